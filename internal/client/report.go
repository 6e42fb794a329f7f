package client

import (
	"context"
	"errors"
	"io"
	"mime"
	"net/http"
	"regexp"
	"slices"
	"strings"

	"github.com/mandate-io/idv/internal/client/wire"
)

// Report is what IndividualReport has downloaded. It is personal data.
type Report struct {
	ContentType string // the response's media type without parameters, such as "application/pdf"; "" if it names none
	Content     []byte

	body io.Closer
}

// Close says that the report is no longer in memory. Call it, for the sake of Config.Wrap.
func (r *Report) Close() {
	if r.body != nil {
		_ = r.body.Close()
	}
}

// IndividualReport downloads a report (interface: Get individual report) of at most maxBytes bytes in two minutes. Its
// format is not documented: the content is as it came. Transient faults are retried.
//
// Errors: Refused (KindInvalid, KindNotFound): there is no report until the individual has completed the checks.
// KindNotReady: the service is still making it (202, or a 200 that says so). KindTooLarge: it exceeds maxBytes.
// KindUnreadable: the response is empty, a page of HTML, or says that the request failed.
func (c *Client) IndividualReport(ctx context.Context, id, maxBytes int64) (*Report, error) {
	q := newRequest(OpIndividualReport, id)
	q.maxBody, q.deadline = maxBytes, reportDeadline
	// A PDF is the likeliest format.
	q.headers.Set("Accept", "application/pdf, application/json;q=0.9, */*;q=0.8")
	return do(ctx, c, q, func(a *answer) (*Report, error) {
		// A report without a type, or with parameters that nobody can read, is complete all the same.
		contentType, _, _ := mime.ParseMediaType(a.Header.Get("Content-Type"))
		switch {
		case a.accepted() || a.isPending():
			return nil, &Error{Operation: a.op, Outcome: Refused, Kind: KindNotReady, Status: a.StatusCode}
		case len(a.content) == 0:
			return nil, a.unreadable("the response is empty and holds no report")
		}
		report := &Report{ContentType: contentType, Content: a.content, body: a.Body}
		a.Body = http.NoBody
		return report, nil
	})
}

// pendingWord matches the folded words for a report that is being made. Not documented: our reading.
var pendingWord = regexp.MustCompile(`^(processing|pending|inprogress|queued|generating|notready|accepted|running|` +
	`started|waiting|preparing|requested|scheduled)$`)

// A response is no report if it is short, and no text in it is long.
const maxPending = 4 << 10

var longText = regexp.MustCompile(`"[^"]{257}`)

// isReport reports whether JSON has members of a report, whose result may be "accepted" or "failed". It is our reading.
func (a *answer) isReport() bool {
	return !a.value.Object().Get("checks", "individual", "last_name", "email", "reference").IsNull()
}

// isPending reports whether JSON says that a report is being made, and is no report itself.
func (a *answer) isPending() bool {
	if len(a.json) > maxPending || longText.Match(a.json) {
		return false
	}
	return slices.ContainsFunc(append(a.value.Wrapped("report"), a.value), func(v wire.Value) bool {
		word := wire.FoldName(v.Object().String("status", "state", "report_status"))
		return pendingWord.MatchString(word) && (word != "accepted" || !a.isReport())
	})
}

// holdsFile is what the body of a 2xx to the download of a report holds.
func (a *answer) holdsFile() body {
	contentType := strings.ToLower(a.Header.Get("Content-Type"))
	isHTML := strings.Contains(contentType+http.DetectContentType(a.content), "html")
	notJSON := strings.Contains(contentType, "json") && errors.Is(a.invalid, wire.ErrNotJSON)
	switch {
	case isHTML, notJSON && len(a.json) > 0:
		return bodyForeign
	case a.value.DeniesSuccess(), len(a.json) <= maxPending && !a.isReport() && a.value.ReportsFailure():
		return bodyFailure
	default:
		return bodyJSON
	}
}
