package connection

import (
	"context"

	"golang.org/x/sync/singleflight"
	"k8s.io/utils/keymutex"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// fresh lets one read answer all who asked before it began. Who asks while a read is under way waits for the next: the
// answer of the one under way may be older than the question.
type fresh struct {
	asked   singleflight.Group
	reading keymutex.KeyMutex
}

func newFresh() *fresh { return &fresh{reading: keymutex.NewHashed(0)} }

type answer struct {
	service Service
	access  Access
}

// FindFresh is Find for many at once, past the cache: what it finds was so at some time after it was called. The service is
// shared with others and not to be changed.
func (r *Registry) FindFresh(ctx context.Context, live client.Reader, clusterServices bool, key Key, namespace string) (Service, Access, error) {
	question := key.String() + "/" + namespace
	found, err, _ := r.fresh.asked.Do(question, func() (any, error) {
		r.fresh.reading.LockKey(question)
		defer func() { _ = r.fresh.reading.UnlockKey(question) }()
		r.fresh.asked.Forget(question) // from here on, whoever asks is too late for this read
		service, access, err := Find(ctx, live, clusterServices, key, namespace)
		return answer{service, access}, err
	})
	a := found.(answer) //nolint:forcetypeassert // it is what the function above gives
	return a.service, a.access, err
}
