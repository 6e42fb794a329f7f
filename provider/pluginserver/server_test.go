package pluginserver

import (
	"context"
	"errors"
	"testing"
)

func TestReleasedContext(t *testing.T) {
	type key struct{}
	parent, cancel := context.WithCancel(context.WithValue(t.Context(), key{}, "value"))
	defer cancel()
	kept := make(chan context.Context, 2)
	respond := func(end func()) func(context.Context, int) (int, error) {
		return func(ctx context.Context, number int) (int, error) {
			child, stop := context.WithCancel(ctx)
			defer stop()
			if ctx.Value(key{}) != "value" || child.Err() != nil {
				t.Errorf("during the request: value %v, %v", ctx.Value(key{}), child.Err())
			}
			kept <- ctx
			end()
			return number, child.Err()
		}
	}
	if got, err := withReleasedContext(parent, 7, respond(func() {})); got != 7 || err != nil {
		t.Errorf("got %d, %v; want 7, no error", got, err)
	}
	after := <-kept
	<-after.Done()
	if after.Value(key{}) != nil || !errors.Is(after.Err(), context.Canceled) {
		t.Errorf("after the request: value %v, %v; want no value, canceled", after.Value(key{}), after.Err())
	}
	if _, err := withReleasedContext(parent, 7, respond(cancel)); !errors.Is(err, context.Canceled) {
		t.Errorf("canceled during the request: %v", err)
	}
}
