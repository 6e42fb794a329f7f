package operator

import (
	"context"
	"errors"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/watch"
	toolscache "k8s.io/client-go/tools/cache"
	clocktesting "k8s.io/utils/clock/testing"

	"github.com/mandate-io/idv/api/v1alpha1"
)

// server is an API server whose answers a test chooses.
type server struct {
	err    error
	stream *watch.FakeWatcher
}

// observed is the watch of a server, and what is known of it.
type observed struct {
	*testing.T
	*watches
	server *server
	clock  *clocktesting.FakePassiveClock
	lw     toolscache.ListerWatcherWithContext
}

func newObserved(t *testing.T) *observed {
	t.Helper()
	o := &observed{T: t, server: &server{}, clock: clocktesting.NewFakePassiveClock(time.Now())}
	o.watches = newWatches(o.clock)
	o.lw = toolscache.ToListerWatcherWithContext(o.observe("Mandate", &toolscache.ListWatch{
		ListWithContextFunc: func(context.Context, metav1.ListOptions) (runtime.Object, error) {
			return &v1alpha1.MandateList{}, o.server.err
		},
		WatchFuncWithContext: func(context.Context, metav1.ListOptions) (watch.Interface, error) {
			o.server.stream = watch.NewFakeWithChanSize(10, false)
			return o.server.stream, o.server.err
		},
	}))
	return o
}

// watch opens a watch. With listing, it begins with the objects that are there.
func (o *observed) watch(listing bool) watch.Interface {
	o.Helper()
	stream, err := o.lw.WatchWithContext(o.Context(), metav1.ListOptions{SendInitialEvents: &listing})
	if err != nil {
		o.Fatal(err)
	}
	return stream
}

// deliver lets the reader of a watch have an event.
func (o *observed) deliver(stream watch.Interface, kind watch.EventType, annotations map[string]string) {
	o.Helper()
	o.server.stream.Action(kind, &v1alpha1.Mandate{ObjectMeta: metav1.ObjectMeta{Annotations: annotations}})
	<-stream.ResultChan()
}

// after checks whether the watch counts as readable after a time.
func (o *observed) after(pause time.Duration, want bool) {
	o.Helper()
	o.clock.SetTime(o.clock.Now().Add(pause))
	if got := o.check("Mandate")(nil) == nil; got != want {
		o.Errorf("after %s, the watch counts as readable: %t, want %t", pause, got, want)
	}
	if o.check("IdentityService")(nil) != nil {
		o.Error("the watch of another kind counts as unreadable")
	}
}

const second = time.Second

// endOfList is the annotation of the bookmark after the objects that were there.
var endOfList = map[string]string{metav1.InitialEventsAnnotationKey: "true"}

func TestWatches(t *testing.T) {
	t.Parallel()
	for name, run := range map[string]func(*observed){
		"never": func(o *observed) {
			o.after(59*second, true)
			o.after(second, false)
		},
		"quiet for long": func(o *observed) {
			o.watch(false)
			o.after(time.Hour, true)
		},
		"ended, and opened again": func(o *observed) {
			stream := o.watch(false)
			o.deliver(stream, watch.Bookmark, nil)
			o.clock.SetTime(o.clock.Now().Add(time.Hour))
			stream.Stop()
			o.after(59*second, true)
			o.after(second, false)
			o.watch(false)
			o.after(0, true)
		},
		"refused": func(o *observed) {
			o.server.err = errors.New("forbidden")
			for range 6 {
				_, watchErr := o.lw.WatchWithContext(o.Context(), metav1.ListOptions{})
				_, listErr := o.lw.ListWithContext(o.Context(), metav1.ListOptions{})
				if watchErr == nil || listErr == nil {
					o.Fatal("no error")
				}
				o.clock.SetTime(o.clock.Now().Add(10 * second))
			}
			o.after(0, false)
			o.server.err = nil
			_, _ = o.lw.ListWithContext(o.Context(), metav1.ListOptions{})
			o.after(0, true)
		},
		"opened, and always ended by an error": func(o *observed) {
			for range 6 {
				stream := o.watch(false)
				o.deliver(stream, watch.Error, nil)
				o.clock.SetTime(o.clock.Now().Add(10 * second))
				stream.Stop()
			}
			o.after(0, false)
		},
		"an error in the list, again and again": func(o *observed) {
			for range 6 {
				stream := o.watch(true)
				o.deliver(stream, watch.Added, nil)
				o.deliver(stream, watch.Error, nil)
				o.clock.SetTime(o.clock.Now().Add(10 * second))
				stream.Stop()
			}
			o.after(0, false)
		},
		"a list as a watch": func(o *observed) {
			stream := o.watch(true)
			o.deliver(stream, watch.Added, nil)
			o.deliver(stream, watch.Bookmark, endOfList)
			o.after(time.Hour, true)
			o.deliver(stream, watch.Error, nil)
			o.after(59*second, true)
			o.after(second, false)
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			run(newObserved(t))
		})
	}
}
