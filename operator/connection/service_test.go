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

// changingReader is an API server with one object, whose generation is the number of changes when a read of it begins.
type changingReader struct {
	client.Reader
	changes, reads atomic.Int64
}

func (r *changingReader) Get(_ context.Context, _ client.ObjectKey, object client.Object, _ ...client.GetOption) error {
	r.reads.Add(1)
	object.SetGeneration(r.changes.Load())
	<-time.After(time.Millisecond) // it takes a while
	return nil
}

func TestLiveReader(t *testing.T) {
	const askers, times = 32, 50
	api := &changingReader{}
	live := NewLiveReader(ServiceReader{Reader: api, ClusterServices: true})
	key := Key{Kind: v1alpha1.ServiceKindIdentityService, Namespace: "a", Name: "b"}
	var asking sync.WaitGroup
	for range askers {
		asking.Go(func() {
			for range times {
				before := api.changes.Add(1)
				service, access, err := live.Find(t.Context(), key, "a")
				if err != nil || access != Granted {
					t.Errorf("Find: %v, %v", access, err)
					return
				}
				if got := service.GetGeneration(); got < before {
					t.Errorf("found generation %d after it had become %d: the answer is older than the question", got, before)
				}
			}
		})
	}
	asking.Wait()
	if reads := api.reads.Load(); reads > askers*times/4 {
		t.Errorf("%d reads for %d questions at %d at a time: they are not shared", reads, askers*times, askers)
	}
}
