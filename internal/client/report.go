package client

import (
	"context"
	"io"
	"mime"
	"net/http"
)

// IndividualReport downloads the report of an individual into w: GET /ext/individuals/{id}/report. Its format is not
// documented; the bytes are passed on as they come, at most maxBytes of them, and contentType is what the service calls
// them, such as "application/pdf", without parameters; "" if it does not say. The whole download has two minutes.
//
// Passing faults are retried as long as nothing was written. After an error, w may hold the beginning of a report.
// Errors: Refused (KindInvalid, KindNotFound: there is no report until the individual has completed the checks),
// KindTooLarge if it exceeds maxBytes, KindUnreadable after 202 or if a 2xx answer holds nothing, KindCanceled if w fails.
func (c *Client) IndividualReport(ctx context.Context, id int64, w io.Writer, maxBytes int64) (contentType string, err error) {
	answer, err := c.do(ctx, call{op: OpIndividualReport, id: id, report: &report{to: w, limit: maxBytes}})
	if err != nil {
		return "", err
	}
	// The parameters could name a file, and the file a person.
	mediaType, _, err := mime.ParseMediaType(answer.contentType)
	if err != nil {
		return "", nil //nolint:nilerr // the report is there, only its type is not known
	}
	return mediaType, nil
}

// report passes an answer's body on to a writer of the caller.
type report struct {
	to      io.Writer
	limit   int64
	written int64
	writeErr error // of the caller's writer
}

// Write implements io.Writer.
func (r *report) Write(p []byte) (int, error) {
	n, err := r.to.Write(p)
	r.written += int64(n)
	r.writeErr = err
	return n, err
}

// started tells whether something was written, after which nothing may be sent again.
func (r *report) started() bool { return r != nil && r.written > 0 }

func (r *report) receive(ctx context.Context, response *http.Response) *Error {
	status := response.StatusCode
	switch {
	case status == http.StatusAccepted: // interface: processing not complete
		return &Error{Operation: OpIndividualReport, Kind: KindUnreadable, Status: status, detail: "the report is not ready yet"}
	case response.ContentLength > r.limit:
		return tooLarge(OpIndividualReport, status)
	}
	_, err := io.CopyN(r, response.Body, r.limit)
	if err == nil { // the limit is reached: is there more?
		var more int
		if more, err = io.ReadFull(response.Body, make([]byte, 1)); more > 0 {
			return tooLarge(OpIndividualReport, status)
		}
	}
	switch {
	case r.writeErr != nil:
		return &Error{Operation: OpIndividualReport, Kind: KindCanceled, Status: status, detail: "the report could not be written to where it should go"}
	case err != io.EOF: //nolint:errorlint // io.EOF itself is the end; wrapped, it is a connection that broke
		return truncated(ctx, OpIndividualReport, status, err)
	case !r.started():
		return &Error{Operation: OpIndividualReport, Kind: KindUnreadable, Status: status, detail: "the answer is empty, there is no report in it"}
	}
	return nil
}
