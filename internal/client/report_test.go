package client

import (
	"io"
	"net/http"
	"strings"
	"testing"
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
		"type that is none":    {"%PDF", "pdf;;", "", 8, ""},
		"a byte too large":     {"123456789", "text/plain", "", 8, KindTooLarge},
		"nothing":              {"", "application/pdf", "", 8, KindUnreadable},
		"nothing wanted":       {"x", "application/pdf", "", 0, KindTooLarge},
		"white space is kept":  {" \n\ufeff ", "text/plain", "text/plain", 8, ""},
		"larger than any JSON": {strings.Repeat("x", 2<<20), "text/plain", "text/plain", 4 << 20, ""},
	} {
		for _, sized := range []bool{false, true} {
			t.Run(name, func(t *testing.T) {
				s := newService(t, answersWith(test.contentType, test.body, sized), false)
				var got strings.Builder
				report, err := s.client(t).IndividualReport(t.Context(), 1, &got, test.limit)
				if int64(got.Len()) > test.limit {
					t.Errorf("wrote %d bytes", got.Len())
				}
				if test.kind != "" {
					expectFailure(t, err, Unknown, test.kind)
					if sized && got.Len() > 0 {
						t.Error("what is known to be too large is not begun")
					}
					return
				}
				if err != nil || report.ContentType != test.want || got.String() != test.body {
					t.Errorf("got %+v, %d bytes, %v", report, got.Len(), err)
				}
			})
		}
	}
}

func TestReportThatIsNotThere(t *testing.T) {
	for status, kind := range map[int]Kind{400: KindInvalid, 404: KindNotFound, 409: KindConflict, 202: KindUnreadable,
		204: KindUnreadable} {
		s := newService(t, answers(status, ""), false)
		var got strings.Builder
		_, err := s.client(t).IndividualReport(t.Context(), 1, &got, 1<<20)
		if e := asError(t, err); e.Kind != kind || got.Len() > 0 {
			t.Errorf("%d: %v, %d bytes", status, e, got.Len())
		}
	}
}

func TestReportIsNotStartedTwice(t *testing.T) {
	t.Run("broken before anything was written", func(t *testing.T) {
		s := newService(t, inSequence(abort, answers(503, ""), answersWith("text/plain", "report", true)), false)
		var got strings.Builder
		if _, err := s.client(t).IndividualReport(t.Context(), 1, &got, 100); err != nil || got.String() != "report" {
			t.Errorf("got %q, %v", got.String(), err)
		}
	})
	t.Run("broken inside", func(t *testing.T) {
		s := newService(t, inSequence(abortInside, answersWith("text/plain", "report", true)), false)
		var got strings.Builder
		_, err := s.client(t).IndividualReport(t.Context(), 1, &got, 100)
		expectFailure(t, err, Unknown, KindConnection)
		s.expect(t, 1, 1)
	})
	t.Run("writer that fails", func(t *testing.T) {
		s := newService(t, answersWith("text/plain", "report", true), false)
		reader, writer := io.Pipe()
		reader.Close()
		_, err := s.client(t).IndividualReport(t.Context(), 1, writer, 100)
		expectFailure(t, err, Unknown, KindCanceled)
		s.expect(t, 1, 1)
	})
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
		var got strings.Builder
		_, err := s.client(t, func(c *Config) { c.RequestTimeout = timeout }).IndividualReport(t.Context(), 1, &got, 1<<10)
		if err != nil || got.String() != "%PDF" {
			t.Errorf("secure=%v: got %q, %v", secure, &got, err)
		}
		s.expect(t, 1, 1)
	}
}
