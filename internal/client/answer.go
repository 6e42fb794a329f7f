package client

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io"
	"net/http"

	"github.com/mandate-io/idv/internal/client/wire"
)

// ErrBusy is for Config.Wrap: reading the body of a response fails with it if there is no memory for it now.
var ErrBusy = errors.New("too many large responses are read at the same time")

// SmallBody is more than a usual response, in bytes.
const SmallBody = 64 << 10

// Raw is JSON of the service as it came. It may have personal data.
type Raw = Sensitive[json.RawMessage]

// answer is a response that was read. To close its Body releases what Config.Wrap has counted for it.
type answer struct {
	*http.Response
	*request

	content    []byte // as it came
	json       []byte // the same without byte order mark and surrounding white space
	value      wire.Value
	invalid    error  // why value is not what the body holds
	failed     *Error // why the body is not whole
	discardRaw bool   // see Config.DiscardRaw
}

func (a *answer) accepted() bool { return a.StatusCode == http.StatusAccepted }

// raw is the body if it is JSON and to be kept, and empty otherwise.
func (a *answer) raw() Raw {
	if a.discardRaw || !json.Valid(a.json) {
		return Raw{}
	}
	return Hide(json.RawMessage(a.json))
}

func (c *Client) read(ctx context.Context, q *request, r *http.Response) *answer {
	a := &answer{Response: r, request: q, discardRaw: c.config.DiscardRaw}
	limit := q.maxBody
	switch {
	case a.StatusCode < 200: // 101: its body is the connection itself, and no context ends a read from it
		return a
	case a.StatusCode >= 300 && !q.effect.mutates(): // nothing depends on what it says
		limit = SmallBody
	}
	a.readBody(ctx, limit)
	a.json = bytes.TrimSpace(bytes.TrimPrefix(a.content, []byte("\ufeff")))
	if a.value, a.invalid = wire.Parse(a.json); a.invalid != nil && q.effect != effectCreate {
		a.value = wire.Value{} // only the id of what was created must not be lost, however large the response is
	}
	return a
}

// readBody reads a body of at most limit bytes, or finds out why there is no whole one.
func (a *answer) readBody(ctx context.Context, limit int64) {
	var read bytes.Buffer
	read.Grow(int(min(max(a.ContentLength, 4<<10), SmallBody)) + bytes.MinRead)
	// Beyond SmallBody, the buffer is made large at once: to let it grow would take three times as much.
	_, err := io.CopyN(&read, a.Body, min(SmallBody, limit)+1)
	if err == nil && limit > SmallBody {
		read.Grow(int(limit) - read.Len() + 1 + bytes.MinRead)
		_, err = read.ReadFrom(io.LimitReader(a.Body, limit+1-int64(read.Len())))
	}
	switch {
	case errors.Is(err, ErrBusy):
		a.failed = &Error{Kind: KindRateLimited, detail: ErrBusy.Error() + "; try again later"}
	case err != nil && err != io.EOF: //nolint:errorlint // io.EOF itself is the end; wrapped, it is a broken connection
		a.failed = transportError(ctx, a.op, err, Unknown)
	case int64(read.Len()) > limit:
		a.failed = &Error{Kind: KindTooLarge, detail: "the response exceeds the size limit"}
	default:
		a.content = read.Bytes()
	}
}
