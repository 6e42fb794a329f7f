package engine

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/log"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	"github.com/mandate-io/idv/internal/client"
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

// Runner runs the reconciliations of one controller. One whose attempt cannot be recorded goes on in the background: it
// holds neither a worker nor a slot, however long that lasts. The zero value is ready.
type Runner[S ~string] struct {
	mu         sync.Mutex
	unrecorded map[types.NamespacedName]connection.Key // the connections of those in the background
	failed     int                                     // tries to record the end of an attempt
	attempts   int                                     // under way
	drained    chan struct{}                           // nil until a shutdown begins; closed when no attempt is under way
}

// Run makes a reconciliation of an object, which is nil if there is nothing to reconcile, and runs it. An object that
// has one in the background has to wait for that. Errors hold no personal data.
func (r *Runner[S]) Run(
	ctx context.Context, object types.NamespacedName, start func() (Reconciliation[S], error),
) (reconcile.Result, error) {
	ctx = client.WithCaller(ctx, object.String())
	later := reconcile.Result{RequeueAfter: WriteBackoff.Max, Priority: Priority(true)}
	var goesOn bool
	r.change(func() { _, goesOn = r.unrecorded[object] })
	if goesOn {
		return later, nil
	}
	current, err := start()
	if err != nil || current == nil {
		return reconcile.Result{}, apierror.Redact(err)
	}
	recorded := true
	defer func() { // also after a panic, which controller-runtime recovers from
		if recorded {
			current.Release()
		}
	}()
	result, err := Run(ctx, current, MaxSteps)
	if recorded = !r.isFailedRecord(ctx, err); !recorded {
		key := current.Park()
		r.change(func() {
			if r.unrecorded == nil {
				r.unrecorded = map[types.NamespacedName]connection.Key{}
			}
			r.unrecorded[object] = key
		})
		go r.retry(ctx, object, current)
		return later, nil
	}
	return result, apierror.Redact(err)
}

// retry goes on with a reconciliation until the end of its attempt is recorded. After the stop of the manager it sends
// nothing new: what comes after the record needs a context that has not ended.
func (r *Runner[S]) retry(ctx context.Context, object types.NamespacedName, current Reconciliation[S]) {
	defer func() {
		if defect := recover(); defect != nil {
			log.FromContext(ctx).Error(fmt.Errorf("panic: %v", defect), "Failed to record how an attempt ended")
		}
		current.Release()
		r.change(func() { delete(r.unrecorded, object) })
	}()
	for tries := 1; ; tries++ {
		<-time.After(WriteBackoff.After(tries))
		_, err := Run(ctx, current, MaxSteps)
		if !r.isFailedRecord(ctx, err) {
			return // the next reconciliation finds out what is left to do
		}
	}
}

// isFailedRecord reports whether an error is that of a try to record the end of an attempt.
func (r *Runner[S]) isFailedRecord(ctx context.Context, err error) bool {
	unrecorded, ok := errors.AsType[*UnrecordedError](err)
	if ok {
		r.change(func() { r.failed++ })
		log.FromContext(ctx).Info("Failed to record how an attempt ended, will retry",
			"error", apierror.Redact(unrecorded.Err).Error())
	}
	return ok
}

func (r *Runner[S]) change(change func()) {
	r.mu.Lock()
	defer r.mu.Unlock()
	change()
}

// Unrecorded counts the attempts that are not recorded yet.
func (r *Runner[S]) Unrecorded() (n int) {
	r.change(func() { n = len(r.unrecorded) })
	return n
}

// FailedRecords counts the tries to record the end of an attempt that failed, since the process started.
func (r *Runner[S]) FailedRecords() (n int) {
	r.change(func() { n = r.failed })
	return n
}

// UnrecordedOf counts the attempts of a connection that are not recorded yet.
func (r *Runner[S]) UnrecordedOf(key connection.Key) (n int) {
	r.change(func() {
		for _, used := range r.unrecorded {
			if used == key {
				n++
			}
		}
	})
	return n
}

// TryBegin admits an attempt, which has to be Done: a request that acts on a person, with what is written before and
// after it. A shutdown waits for those under way. It reports false once a shutdown has begun.
func (r *Runner[S]) TryBegin() (admitted bool) {
	r.change(func() {
		if admitted = r.drained == nil; admitted {
			r.attempts++
		}
	})
	return admitted
}

// Done ends an attempt.
func (r *Runner[S]) Done() {
	r.change(func() {
		r.attempts--
		if r.attempts == 0 && r.drained != nil {
			close(r.drained)
		}
	})
}

// Drain admits no more attempts and waits for those under way, or until ctx ends. Call it before the process ends, for
// whatever reason the manager stopped: after a lost lease the manager does not wait for its controllers.
func (r *Runner[S]) Drain(ctx context.Context) {
	r.change(func() {
		if r.drained == nil {
			r.drained = make(chan struct{})
			if r.attempts == 0 {
				close(r.drained)
			}
		}
	})
	select {
	case <-r.drained:
	case <-ctx.Done():
		if n := r.Unrecorded(); n > 0 {
			log.FromContext(ctx).Error(nil, "Shutting down with attempts that are not recorded", "attempts", n)
		}
	}
}
