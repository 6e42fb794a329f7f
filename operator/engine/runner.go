package engine

import (
	"context"
	"errors"
	"maps"
	"slices"
	"sync"

	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/log"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	"github.com/mandate-io/idv/operator/apierror"
	"github.com/mandate-io/idv/operator/connection"
)

// MaxUnrecorded is how many attempts of a connection may wait to be recorded before no other one begins: an API server
// that refuses the end of some refuses that of the next, too.
const MaxUnrecorded = 10

// MaxSteps is far more than any reconciliation takes.
const MaxSteps = 50

// UnrecordedError means that the API server did not record how an attempt ended. Only this process knows, so the step
// is performed again before anything else happens to the object.
type UnrecordedError struct{ Err error }

// Error is the API server's.
func (e *UnrecordedError) Error() string { return "recording the end of an attempt: " + e.Err.Error() }

// Unwrap is the API server's error.
func (e *UnrecordedError) Unwrap() error { return e.Err }

// Runner runs the reconciliations of one controller. One whose attempt cannot be recorded is parked between two tries:
// it holds neither a worker nor a slot, however long that lasts. The zero value is ready.
type Runner[S ~string] struct {
	mu       sync.Mutex
	parked   map[types.NamespacedName]*parked[S]
	failed   int           // tries to record the end of an attempt
	attempts int           // under way
	drained  chan struct{} // nil until a shutdown begins; closed when no attempt is under way
}

// parked is a reconciliation between two tries.
type parked[S ~string] struct {
	Reconciliation[S]
	connection connection.Key
	tries      int
	running    bool // a worker, or the drain, performs the step now
}

// Run goes on with the parked reconciliation of an object, or makes one, which is nil if there is nothing to reconcile.
// Errors hold no personal data.
func (r *Runner[S]) Run(
	ctx context.Context, object types.NamespacedName, start func() (Reconciliation[S], error),
) (reconcile.Result, error) {
	current, free := r.resume(object)
	if !free {
		return reconcile.Result{RequeueAfter: WriteBackoff.Max}, nil
	}
	if current == nil {
		reconciliation, err := start()
		if err != nil || reconciliation == nil {
			return reconcile.Result{}, apierror.Redact(err)
		}
		current = &parked[S]{Reconciliation: reconciliation}
	}
	recorded := true
	defer func() { // also after a panic, which controller-runtime recovers from
		if recorded {
			current.Release()
			r.remove(object)
		}
	}()
	result, err := Run(ctx, current.Reconciliation, MaxSteps)
	if unrecorded, ok := errors.AsType[*UnrecordedError](err); ok {
		log.FromContext(ctx).Info("Failed to record how an attempt ended, will retry",
			"error", apierror.Redact(unrecorded.Err).Error())
		recorded = false
		return r.park(object, current), nil
	}
	return result, apierror.Redact(err)
}

// Unrecorded counts the attempts that are not recorded yet.
func (r *Runner[S]) Unrecorded() int {
	r.mu.Lock()
	defer r.mu.Unlock()
	return len(r.parked)
}

// FailedRecords counts the tries to record the end of an attempt that failed, since the process started.
func (r *Runner[S]) FailedRecords() int {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.failed
}

// UnrecordedOf counts those of a connection.
func (r *Runner[S]) UnrecordedOf(key connection.Key) (n int) {
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, p := range r.parked {
		if p.connection == key {
			n++
		}
	}
	return n
}

// resume gives the parked reconciliation of an object, nil if there is none. free is false if it is running already.
func (r *Runner[S]) resume(object types.NamespacedName) (current *parked[S], free bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	current = r.parked[object]
	if current == nil {
		return nil, true
	}
	free = !current.running
	current.running = true
	return current, free
}

// park keeps a reconciliation until its next try.
func (r *Runner[S]) park(object types.NamespacedName, current *parked[S]) reconcile.Result {
	key := current.Park()
	r.mu.Lock()
	defer r.mu.Unlock()
	current.connection, current.running = key, false
	current.tries++
	r.failed++
	if r.parked == nil {
		r.parked = map[types.NamespacedName]*parked[S]{}
	}
	r.parked[object] = current
	return reconcile.Result{RequeueAfter: WriteBackoff.After(current.tries), Priority: Priority(true)}
}

func (r *Runner[S]) remove(object types.NamespacedName) {
	r.mu.Lock()
	defer r.mu.Unlock()
	delete(r.parked, object)
}

// resumeAll goes on with every reconciliation that is parked. It sends nothing new, as after the stop of the manager.
func (r *Runner[S]) resumeAll(ctx context.Context) {
	stopped, stop := context.WithCancel(ctx)
	stop()
	nothing := func() (Reconciliation[S], error) { return nil, nil }
	r.mu.Lock()
	objects := slices.Collect(maps.Keys(r.parked))
	r.mu.Unlock()
	var tries sync.WaitGroup
	for _, object := range objects {
		tries.Go(func() {
			// What comes after the record needs a context that has not ended: the next process does it.
			if _, err := r.Run(stopped, object, nothing); err != nil && !errors.Is(err, context.Canceled) {
				log.FromContext(ctx).Error(err, "Failed to end a reconciliation during the shutdown")
			}
		})
	}
	tries.Wait()
}
