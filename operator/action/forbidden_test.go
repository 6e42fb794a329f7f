package action

import (
	"context"
	"testing"

	"k8s.io/utils/clock"

	"github.com/mandate-io/idv/api/v1alpha1"
	idv "github.com/mandate-io/idv/internal/client"
	"github.com/mandate-io/idv/operator/engine"
)

// failingService answers each read with an error.
type failingService struct {
	ServiceClient
	err error
}

func (s failingService) RetrieveApplication(context.Context, int64) (*idv.Application, error) {
	return nil, s.err
}

func (s failingService) IndividualReport(context.Context, int64, int64) (*idv.Report, error) {
	return nil, s.err
}

// What the service itself forbids ends an action. The page of a proxy does not: it may let the next read through.
func TestForbiddenReads(t *testing.T) {
	t.Parallel()
	page := &idv.Error{Outcome: idv.Forbidden, Kind: idv.KindForbidden}
	for s, email := range map[step]bool{stepReadApplication: true, stepDownload: false} {
		for err, want := range map[error]string{
			forbidden(): v1alpha1.ReasonForbidden, page: v1alpha1.ReasonRetrying,
		} {
			r := &reconciliation{
				Reconciler: &Reconciler{clock: clock.RealClock{}}, action: &v1alpha1.MandateAction{},
				client: failingService{err: err}, deadline: engine.NewDeadline(clock.RealClock{}),
			}
			if r.facts = emailing(func(*facts) {}); !email {
				r.facts = download(func(*facts) {})
			}
			r.facts.subject.read = false
			if err := r.Perform(t.Context(), s); err != nil {
				t.Fatal(err)
			}
			if got := r.Decide(); got.Reason != want || len(r.facts.problems) != 1 {
				t.Errorf("%s: %+v with %+v, want reason %s", s, got, r.facts.problems, want)
			}
		}
	}
}
