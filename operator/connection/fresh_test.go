package connection

import (
	"context"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/mandate-io/idv/api/v1alpha1"
)

// versions is an API server with one object, which has been changed so many times when a read of it begins.
type versions struct {
	client.Reader
	changed, reads atomic.Int64
}

func (v *versions) Get(_ context.Context, _ client.ObjectKey, object client.Object, _ ...client.GetOption) error {
	v.reads.Add(1)
	object.SetGeneration(v.changed.Load())
	<-time.After(time.Millisecond) // it takes a while
	return nil
}

func TestFindFresh(t *testing.T) {
	const askers, times = 32, 50
	r, v, key := NewRegistry(), &versions{}, Key{Kind: v1alpha1.ServiceKindIdentityService, Namespace: "a", Name: "b"}
	var asking sync.WaitGroup
	for range askers {
		asking.Go(func() {
			for range times {
				before := v.changed.Add(1)
				service, access, err := r.FindFresh(t.Context(), v, true, key, "a")
				if err != nil || access != Granted {
					t.Errorf("FindFresh: %v, %v", access, err)
					return
				}
				if service.GetGeneration() < before {
					t.Errorf("found generation %d after it had become %d: the answer is older than the question", service.GetGeneration(), before)
				}
			}
		})
	}
	asking.Wait()
	if reads := v.reads.Load(); reads > askers*times/4 {
		t.Errorf("%d reads for %d questions at %d at a time: they are not shared", reads, askers*times, askers)
	}
}
