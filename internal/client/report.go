package client

import (
	"context"
	"io"
	"mime"
	"net/http"
)

// Report is what IndividualReport has downloaded.
type Report struct {
	// ContentType is the response's media type without parameters, such as "application/pdf"; "" if it names none.
	ContentType string

	release func()
}

// Close gives back what a large report takes of Config.Budget. Call it when the report is no longer in memory.
func (r *Report) Close() {
	if r.release != nil {
		r.release()
	}
}

// IndividualReport downloads the report of an individual into w: GET /ext/individuals/{id}/report (interface: Get
// individual report). The format is not documented: the client passes at most maxBytes bytes on as they are. The
// download may take two minutes.
//
// Transient faults are retried until something was written. After an error, w may hold a part of the report.
// Errors: Refused (KindInvalid, KindNotFound): there is no report until the individual has completed the checks.
// KindTooLarge: the report exceeds maxBytes. KindUnreadable: the service responds with 202 or with an empty body.
// KindCanceled: w failed, or ctx was canceled.
func (c *Client) IndividualReport(ctx context.Context, id int64, w io.Writer, maxBytes int64) (*Report, error) {
	download := &report{to: w, limit: maxBytes}
	response, err := c.do(ctx, request{op: OpIndividualReport, id: id, report: download})
	if err != nil {
		return nil, err
	}
	// A parameter could be a file name, with a person's name in it. Without a type, the report is complete all the same.
	mediaType, _, err := mime.ParseMediaType(response.contentType)
	if err != nil {
		mediaType = ""
	}
	return &Report{ContentType: mediaType, release: download.release}, nil
}

// report passes a response's body on to a writer of the caller.
type report struct {
	to       io.Writer
	limit    int64
	written  int64
	writeErr error
	release  func() // gives back what it takes of the Budget; set by receive
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

// receive reads the report. It keeps what that takes of the Budget, until release, unless it fails.
func (r *report) receive(body *bodyReader) *Error {
	status := body.response.StatusCode
	switch {
	case status == http.StatusAccepted: // interface: Get individual report, processing not complete
		return reportFailed(status, KindUnreadable, "the report is not ready yet; try again later")
	case body.response.ContentLength > r.limit:
		return tooLarge(OpIndividualReport, status)
	}
	failure := r.copy(body)
	body.arrived()
	if failure != nil {
		body.release()
	}
	r.release = body.release
	return failure
}

func (r *report) copy(body *bodyReader) *Error {
	status, from := body.response.StatusCode, body.response.Body
	_, err := io.CopyN(r, from, min(r.limit, smallBody))
	if err == nil && r.limit > smallBody {
		if failure := body.admit(reportCost); failure != nil {
			return failure
		}
		_, err = io.CopyN(r, from, r.limit-smallBody)
	}
	if err == nil { // the limit is reached, and the body must end here
		var more int
		if more, err = io.ReadFull(from, make([]byte, 1)); more > 0 {
			return tooLarge(OpIndividualReport, status)
		}
	}
	switch {
	case r.writeErr != nil:
		return reportFailed(status, KindCanceled, "the report could not be written to its destination")
	case err != io.EOF: //nolint:errorlint // io.EOF itself is the end; wrapped, it is a broken connection
		return body.failed(err)
	case !r.started():
		return reportFailed(status, KindUnreadable, "the response is empty and holds no report")
	}
	return nil
}

func reportFailed(status int, kind Kind, detail string) *Error {
	return &Error{Operation: OpIndividualReport, Kind: kind, Status: status, detail: detail}
}
