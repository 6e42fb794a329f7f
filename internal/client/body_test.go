package client

import (
	"context"
	"io"
	"net/http"
	"testing"
	"testing/synctest"
	"time"
)

// tricklingBody is a large body that never ends, and sends nothing any more after its beginning.
type tricklingBody struct {
	ctx  context.Context
	left int
}

func (b *tricklingBody) Read(p []byte) (int, error) {
	if b.left == 0 {
		<-b.ctx.Done()
		return 0, b.ctx.Err()
	}
	n := min(b.left, len(p))
	b.left -= n
	return n, nil
}

// A large response that takes too long is left: others wait for what it takes of the Budget.
func TestASlowLargeBodyIsLeft(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		started := time.Now()
		ctx, stop := context.WithTimeout(t.Context(), time.Hour)
		defer stop()
		ctx, cancel := context.WithCancelCause(ctx)
		reader := &bodyReader{
			ctx: ctx, cancel: cancel, op: OpRetrieveApplication, limit: maxJSON, budget: NewBudget(4 * bodyCost).newShare(),
			response: &http.Response{
				StatusCode: http.StatusOK, Body: io.NopCloser(&tricklingBody{ctx: ctx, left: smallBody + 2}),
			},
		}
		_, err := reader.read()
		reader.release()
		if took := time.Since(started); err == nil || err.Kind != KindTimeout || took != largeBodyTime {
			t.Errorf("after %s: %v", took, err)
		}
	})
}
