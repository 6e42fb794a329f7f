package operator

import (
	"context"
	"fmt"
	"net/http"
	"sync"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/watch"
	toolscache "k8s.io/client-go/tools/cache"
	"k8s.io/utils/clock"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/controller-runtime/pkg/healthz"
)

// watchTimeout is how long a watch may be unreadable. A restart of the API server takes less.
const watchTimeout = time.Minute

// watchedKinds are the kinds of which the operator may have a watch.
var watchedKinds = []string{"Mandate", "MandateAction", "IdentityService", "ClusterIdentityService", "Namespace"}

// watches knows for each watch of the cache when it could last be read. The cache itself tries again for ever, and
// serves what it had.
type watches struct {
	clock clock.PassiveClock

	mu    sync.Mutex
	kinds map[string][]*watchState // one for each watched namespace
}

// watchState is the state of the watch of one kind.
type watchState struct {
	open bool      // it is being read now
	last time.Time // when it was read
}

func newWatches(c clock.PassiveClock) *watches {
	return &watches{clock: c, kinds: map[string][]*watchState{}}
}

// observe notes when a watch can be read.
func (w *watches) observe(kind string, server toolscache.ListerWatcher) toolscache.ListerWatcher {
	state := &watchState{last: w.clock.Now()}
	w.mu.Lock()
	w.kinds[kind] = append(w.kinds[kind], state)
	w.mu.Unlock()
	inner := toolscache.ToListerWatcherWithContext(server)
	return &toolscache.ListWatch{
		ListWithContextFunc: func(ctx context.Context, options metav1.ListOptions) (runtime.Object, error) {
			list, err := inner.ListWithContext(ctx, options)
			if err == nil {
				w.change(func() { state.last = w.clock.Now() })
			}
			return list, err
		},
		WatchFuncWithContext: func(ctx context.Context, options metav1.ListOptions) (watch.Interface, error) {
			stream, err := inner.WatchWithContext(ctx, options)
			if err != nil {
				return nil, err
			}
			o := &observedWatch{watches: w, state: state, listing: ptr.Deref(options.SendInitialEvents, false)}
			w.change(func() { state.open = !o.listing })
			o.Interface = watch.Filter(stream, o.saw)
			return o, nil
		},
	}
}

func (w *watches) change(change func()) {
	w.mu.Lock()
	defer w.mu.Unlock()
	change()
}

// observedWatch is one request to watch.
type observedWatch struct {
	watch.Interface

	watches  *watches
	state    *watchState
	listing  bool // it begins with the objects that are there, and a bookmark ends these
	readable bool // it had an event that is not one of these
	ended    bool
}

// saw notes an event.
func (o *observedWatch) saw(event watch.Event) (watch.Event, bool) {
	o.watches.change(func() {
		switch {
		case o.ended:
		case event.Type == watch.Error:
			o.finish()
		case !o.listing || endsList(event):
			o.listing, o.readable = false, true
			o.state.open, o.state.last = true, o.watches.clock.Now()
		}
	})
	return event, true
}

// Stop ends the watch, as does an error.
func (o *observedWatch) Stop() {
	o.Interface.Stop()
	o.watches.change(o.finish)
}

// finish notes that nothing is read from now on. What ends without an event may never have been readable.
func (o *observedWatch) finish() {
	if o.readable && !o.ended {
		o.state.last = o.watches.clock.Now()
	}
	o.state.open, o.ended = false, true
}

// endsList reports whether an event is the bookmark after the objects that were there.
func endsList(event watch.Event) bool {
	object, ok := event.Object.(metav1.Object)
	return ok && event.Type == watch.Bookmark && object.GetAnnotations()[metav1.InitialEventsAnnotationKey] == "true"
}

// readable reports whether all watches of a kind can be read, or could be a short time ago.
func (w *watches) readable(kind string) bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	for _, state := range w.kinds[kind] {
		if !state.open && w.clock.Since(state.last) >= watchTimeout {
			return false
		}
	}
	return true
}

// check makes /readyz false while the watch of a kind cannot be read.
func (w *watches) check(kind string) healthz.Checker {
	return func(*http.Request) error {
		if w.readable(kind) {
			return nil
		}
		return fmt.Errorf("the watch of %s has not been readable for %s", kind, watchTimeout)
	}
}
