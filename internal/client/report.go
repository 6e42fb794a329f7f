package client

import (
	"context"
	"io"
	"mime"
	"net/http"
)

// IndividualReport downloads the report of an individual into w: GET /ext/individuals/{id}/report (interface: Get
// individual report). The format is not documented: the client passes at most maxBytes bytes on as they are.
// contentType is the response's media type without parameters, such as "application/pdf"; "" if it names none. The
// download may take two minutes.
//
// Transient faults are retried until something was written. After an error, w may hold a part of the report.
// Errors: Refused (KindInvalid, KindNotFound): there is no report until the individual has completed the checks.
// KindTooLarge: the report exceeds maxBytes. KindUnreadable: the service responds with 202 or with an empty body.
// KindCanceled: w failed, or ctx was canceled.
func (c *Client) IndividualReport(
	ctx context.Context, id int64, w io.Writer, maxBytes int64,
) (contentType string, err error) {
	response, err := c.do(ctx, request{op: OpIndividualReport, id: id, report: &report{to: w, limit: maxBytes}})
	if err != nil {
		return "", err
	}
	// A parameter could be a file name, with a person's name in it.
	mediaType, _, err := mime.ParseMediaType(response.contentType)
	if err != nil {
		return "", nil //nolint:nilerr // the report is complete, only its type is unknown
	}
	return mediaType, nil
}

// report passes a response's body on to a writer of the caller.
type report struct {
	to       io.Writer
	limit    int64
	written  int64
	writeErr error
}

// Write implements io.Writer.
func (r *report) Write(p []byte) (int, error) {
	n, err := r.to.Write(p)
	r.written += int64(n)
	r.writeErr = err
	return n, err
}

// started reports whether something was written, after which nothing may be retried.
func (r *report) started() bool { return r != nil && r.written > 0 }

func (r *report) receive(ctx context.Context, httpResponse *http.Response) *Error {
	status := httpResponse.StatusCode
	failed := func(kind Kind, detail string) *Error {
		return &Error{Operation: OpIndividualReport, Kind: kind, Status: status, detail: detail}
	}
	switch {
	case status == http.StatusAccepted: // interface: Get individual report, processing not complete
		return failed(KindUnreadable, "the report is not ready yet; try again later")
	case httpResponse.ContentLength > r.limit:
		return tooLarge(OpIndividualReport, status)
	}
	_, err := io.CopyN(r, httpResponse.Body, r.limit)
	if err == nil { // the limit is reached, and the body must end here
		var more int
		if more, err = io.ReadFull(httpResponse.Body, make([]byte, 1)); more > 0 {
			return tooLarge(OpIndividualReport, status)
		}
	}
	switch {
	case r.writeErr != nil:
		return failed(KindCanceled, "the report could not be written to its destination")
	case err != io.EOF: //nolint:errorlint // io.EOF itself is the end; wrapped, it is a broken connection
		return truncated(ctx, OpIndividualReport, status, err)
	case !r.started():
		return failed(KindUnreadable, "the response is empty and holds no report")
	}
	return nil
}
