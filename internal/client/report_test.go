package client

import (
	"io"
	"net/http"
	"strings"
	"sync/atomic"
	"testing"
	"testing/iotest"
	"time"
)

func TestReport(t *testing.T) {
	for name, test := range map[string]struct {
		body, contentType, want string
		limit                   int64
		kind                    Kind
	}{
		"PDF":                  {"%PDF-1.7", "application/pdf", "application/pdf", 8, ""},
		"name of the file":     {"%PDF", `application/pdf; name="` + personal + `"`, "application/pdf", 8, ""},
		"JSON":                 {`{"report":"JVBERi0="}`, "application/json; charset=utf-8", "application/json", 100, ""},
		"JSON with a result":   {`{"status":"accepted","checks":[]}`, "application/json", "application/json", 100, ""},
		"JSON, failed":         {`{"status":"failed","checks":[{"a":1}]}`, "application/json", "application/json", 100, ""},
		"JSON with a state":    {`{"status":"completed","url":"x"}`, "application/json", "application/json", 100, ""},
		"type without a slash": {"%PDF", "pdf;;", "pdf", 8, ""},
		"odd parameters":       {"%PDF", "application/pdf;;", "application/pdf", 8, ""},
		"a byte too large":     {"123456789", "text/plain", "", 8, KindTooLarge},
		"nothing":              {"", "application/pdf", "", 8, KindUnreadable},
		"nothing wanted":       {"x", "application/pdf", "", 0, KindTooLarge},
		"less than nothing":    {"x", "application/pdf", "", -7, KindTooLarge},
		"white space is kept":  {" \n\ufeff ", "text/plain", "text/plain", 8, ""},
		"larger than any JSON": {strings.Repeat("x", 2<<20), "text/plain", "text/plain", 4 << 20, ""},
		"HTML":                 {"<html>sign in", "text/plain", "", 100, KindUnreadable},
		"HTML by its type":     {"sign in", "text/html; charset=utf-8", "", 100, KindUnreadable},
		"JSON without its end": {`{"report":"JVBERi0`, "application/json", "", 100, KindUnreadable},
		"a failure":            {`{"success":false}`, "application/json", "", 100, KindUnreadable},
		"an error":             {`{"error":"no such report"}`, "application/json", "", 100, KindUnreadable},
		"an error in a report": {
			`{"errors":["x"],"report":"` + strings.Repeat("x", 5000) + `"}`, "application/json", "application/json", 6000, "",
		},
		"a problem": {`{"title":"x","exception":{}}`, "application/pdf", "", 100, KindUnreadable},
	} {
		for _, sized := range []bool{false, true} {
			t.Run(name, func(t *testing.T) {
				s := newService(t, answersWith(test.contentType, test.body, sized), false)
				report, err := s.signedIn(t).IndividualReport(t.Context(), 1, test.limit)
				if test.kind != "" {
					expectFailure(t, err, Unknown, test.kind)
					return
				}
				if err != nil || report.ContentType != test.want || string(report.Content) != test.body {
					t.Fatalf("got %+v, %v", report, err)
				}
				report.Close()
			})
		}
	}
}

func TestReportThatIsNotThere(t *testing.T) {
	for status, kinds := range map[int][2]Kind{ // without and with the service's own words
		400: {KindInvalid, KindInvalid}, 404: {KindUnproven, KindNotFound}, 406: {KindRejected, KindRejected},
		409: {KindConflict, KindConflict}, 202: {KindNotReady, KindUnreadable}, 204: {KindUnreadable, KindUnreadable},
	} {
		for i, body := range []string{"", aboutNothing} {
			s := newService(t, answers(status, body), false)
			_, err := s.signedIn(t).IndividualReport(t.Context(), 1, 1<<20)
			if e := asError(t, err); e.Kind != kinds[i] {
				t.Errorf("%d %s: %v", status, body, e)
			}
			s.Close()
		}
	}
}

// TestReportThatIsBeingMade: only a short answer that says so is none; nothing else of a report is looked at.
func TestReportThatIsBeingMade(t *testing.T) {
	long := strings.Repeat("x", 300)
	for body, pending := range map[string]bool{
		`{"status":"processing"}`:                                        true,
		`{"State":"In Progress","id":7}`:                                 true,
		`{"data":{"report_status":"not-ready"}}`:                         true,
		`{"report":{"status":"queued"}}`:                                 true,
		`{"status":"accepted"}`:                                          true,
		`{"status":"completed"}`:                                         false,
		`{"status":{"id":1,"status":"processing"}}`:                      false,
		`{"status":"processing","report":"` + long + `"}`:                false,
		`{"status":"processing"` + strings.Repeat(" ", maxPending) + `}`: false,
	} {
		s := newService(t, answers(200, body), false)
		report, err := s.signedIn(t).IndividualReport(t.Context(), 1, 1<<20)
		if pending {
			expectFailure(t, err, Refused, KindNotReady)
		} else if err != nil || string(report.Content) != body {
			t.Errorf("%.60s: %v", body, err)
		}
		s.Close()
	}
}

// TestReportIsDownloadedAgain: the caller gets nothing of it until it is complete.
func TestReportIsDownloadedAgain(t *testing.T) {
	s := newService(t, inSequence(abort, abortInside, answersWith("text/plain", "report", true)), false)
	report, err := s.signedIn(t).IndividualReport(t.Context(), 1, 100)
	if err != nil || string(report.Content) != "report" {
		t.Errorf("got %v, %v", report, err)
	}
	s.expect(t, 3, 0)
}

// closedBodies is a transport that counts the bodies that are open.
type closedBodies struct {
	http.RoundTripper
	open *atomic.Int64
}

func (b closedBodies) RoundTrip(r *http.Request) (*http.Response, error) {
	response, err := b.RoundTripper.RoundTrip(r)
	if err == nil {
		b.open.Add(1)
		response.Body = countedBody{response.Body, b.open}
	}
	return response, err
}

type countedBody struct {
	io.ReadCloser
	open *atomic.Int64
}

func (b countedBody) Close() error {
	b.open.Add(-1)
	return b.ReadCloser.Close()
}

// TestBodiesAreClosed: what counts the memory of responses learns when it is free, that of a report by its Close.
func TestBodiesAreClosed(t *testing.T) {
	var open atomic.Int64
	s := newService(t, answersWith("application/pdf", "%PDF", true), false)
	c := s.signedIn(t, func(config *Config) {
		config.Wrap = func(next http.RoundTripper) http.RoundTripper { return closedBodies{next, &open} }
	})
	report, err := c.IndividualReport(t.Context(), 1, 100)
	if err != nil || open.Load() != 1 {
		t.Fatalf("%d are open, %v", open.Load(), err)
	}
	report.Close()
	for name, run := range map[string]func() error{
		"a report that was closed": func() error { return nil },
		"too large":                func() error { return errorOf(c.IndividualReport(t.Context(), 1, 1)) },
		"unreadable":               func() error { return errorOf(c.RetrieveWebhook(t.Context(), 1)) },
		"a change":                 func() error { return errorOf(c.ResendInvites(t.Context(), 1)) },
		"a login":                  func() error { return errorOf(s.client(t).AccessToken(t.Context())) },
	} {
		_ = run()
		if got := open.Load(); got != 0 {
			t.Errorf("%s: %d are open", name, got)
		}
	}
}

// TestNoMemoryForABody: Config.Wrap may refuse to read the rest, which is no fault of the service.
func TestNoMemoryForABody(t *testing.T) {
	s := newService(t, answers(200, someApplication), false)
	c := s.signedIn(t, func(config *Config) {
		config.Wrap = func(next http.RoundTripper) http.RoundTripper { return busyBodies{next} }
	})
	_, err := c.RetrieveApplication(t.Context(), 4711)
	e := expectFailure(t, err, Unknown, KindRateLimited)
	if IsServiceFault(err) || !strings.Contains(e.Error(), ErrBusy.Error()) {
		t.Errorf("%v", e)
	}
	s.expect(t, 1, 0) // it is not sent again: the service did the work
}

type busyBodies struct{ http.RoundTripper }

func (b busyBodies) RoundTrip(r *http.Request) (*http.Response, error) {
	response, err := b.RoundTripper.RoundTrip(r)
	if err == nil {
		response.Body = struct {
			io.Reader
			io.Closer
		}{iotest.ErrReader(ErrBusy), response.Body}
	}
	return response, err
}

// A report is made when it is asked for, which may take longer than any other answer.
func TestAReportMayBeginLate(t *testing.T) {
	const timeout = 500 * time.Millisecond
	for _, secure := range []bool{false, true} {
		s := newService(t, func(w http.ResponseWriter, r *http.Request) {
			select {
			case <-r.Context().Done(): // the client has given up
			case <-time.After(2 * timeout):
				answersWith("application/pdf", "%PDF", true)(w, r)
			}
		}, secure)
		report, err := s.signedIn(t, func(c *Config) { c.RequestTimeout = timeout }).IndividualReport(t.Context(), 1, 1<<10)
		if err != nil || string(report.Content) != "%PDF" {
			t.Errorf("secure=%v: got %v, %v", secure, report, err)
		}
		s.expect(t, 1, 0)
	}
}
