package engine_test

import (
	"context"
	"errors"
	"slices"
	"strings"
	"testing"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	"github.com/mandate-io/idv/operator/connection"
	"github.com/mandate-io/idv/operator/engine"
)

type step string

// fake performs the planned steps, one after another, and logs what happens to it.
type fake struct {
	plan    []step
	log     []string
	noSlot  step // the step that finds no slot
	failing step // the step that fails
	panics  bool // it fails with a panic
	// unrecorded is how often the first step cannot be recorded.
	unrecorded       int
	parked, released int
}

func (f *fake) Decide() engine.Decision[step] {
	if len(f.plan) == 0 {
		return engine.Decision[step]{Step: engine.Wait, Reason: "Done"}
	}
	return engine.Decision[step]{Step: f.plan[0]}
}

func (f *fake) TryAcquire(s step) bool { return s != f.noSlot }

func (f *fake) Priority() *int { return new(-7) }

func (f *fake) Perform(_ context.Context, s step) error {
	f.log = append(f.log, string(s))
	if f.unrecorded > 0 {
		f.unrecorded--
		return &engine.UnrecordedError{Err: errors.New("denied")}
	}
	if s == f.failing && f.panics {
		panic("a defect")
	}
	if s == f.failing {
		return apierrors.NewForbidden(schema.GroupResource{Resource: "secrets"}, "jane", errors.New("canary"))
	}
	f.plan = f.plan[1:]
	return nil
}

func (f *fake) Finish(_ context.Context, decided engine.Decision[step]) (reconcile.Result, error) {
	f.log = append(f.log, "finish "+decided.Reason)
	return reconcile.Result{RequeueAfter: 7}, nil
}

func (f *fake) Park() connection.Key {
	f.parked++
	return connection.Key{Name: "default"}
}

func (f *fake) Release() { f.released++ }

func TestRun(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		reconciliation fake
		maxSteps       int
		log            []string
		finished       bool   // the result is that of Finish
		requeued       bool   // because there was no slot
		err            string // part of it
	}{
		"steps until there is none left": {
			reconciliation: fake{plan: []step{"a", "b"}}, maxSteps: 3,
			log: []string{"a", "b", "finish Done"}, finished: true,
		},
		"a step without a slot is not performed": {
			reconciliation: fake{plan: []step{"a", "b", "c"}, noSlot: "b"}, maxSteps: 9,
			log: []string{"a"}, requeued: true,
		},
		"an error ends it": {
			reconciliation: fake{plan: []step{"a", "b"}, failing: "a"}, maxSteps: 9,
			log: []string{"a"}, err: "canary",
		},
		"too many steps are an error": {
			reconciliation: fake{plan: []step{"a", "b", "c"}}, maxSteps: 2,
			log: []string{"a", "b"}, err: "too many steps",
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := test.reconciliation
			result, err := engine.Run[step](t.Context(), &r, test.maxSteps)
			if !slices.Equal(r.log, test.log) {
				t.Errorf("it did %q, want %q", r.log, test.log)
			}
			if finished := result.RequeueAfter == 7; finished != test.finished {
				t.Errorf("the result is %+v", result)
			}
			if requeued := result.RequeueAfter >= connection.FallbackRequeue*5/6; requeued != test.requeued {
				t.Errorf("the result is %+v", result)
			}
			if requeued := result.Priority != nil && *result.Priority == -7; requeued != test.requeued {
				t.Errorf("the priority is %v", result.Priority)
			}
			switch {
			case test.err == "" && err != nil, test.err != "" && (err == nil || !strings.Contains(err.Error(), test.err)):
				t.Errorf("the error is %v, want %q", err, test.err)
			}
		})
	}
}
