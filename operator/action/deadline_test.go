package action

import (
	"context"
	"testing"
	"time"

	"k8s.io/utils/clock"

	"github.com/mandate-io/idv/api/v1alpha1"
	idv "github.com/mandate-io/idv/internal/client"
	"github.com/mandate-io/idv/internal/test/await"
	"github.com/mandate-io/idv/operator/engine"
)

// slowService keeps how long it may take for an answer; 0 is no limit.
type slowService struct {
	ServiceClient
	timeLeft time.Duration
}

func (s *slowService) RetrieveApplication(ctx context.Context, _ int64) (*idv.Application, error) {
	s.keep(ctx)
	return nil, &idv.Error{Kind: idv.KindTimeout}
}

func (s *slowService) IndividualReport(ctx context.Context, _, _ int64) (*idv.Report, error) {
	s.keep(ctx)
	return nil, &idv.Error{Kind: idv.KindTimeout}
}

func (s *slowService) keep(ctx context.Context) {
	if deadline, ok := ctx.Deadline(); ok {
		s.timeLeft = time.Until(deadline)
	}
}

// A call to the service ends with the deadline of the reconciliation. The client bounds the download of a report.
func TestCallsHaveADeadline(t *testing.T) {
	t.Parallel()
	for s, bounded := range map[step]bool{stepReadApplication: true, stepDownload: false} {
		service := &slowService{}
		r := &reconciliation{
			Reconciler: &Reconciler{}, action: &v1alpha1.MandateAction{}, client: service,
			deadline: engine.NewDeadline(clock.RealClock{}),
		}
		if err := r.Perform(t.Context(), s); err != nil {
			t.Fatal(err)
		}
		if got := service.timeLeft > 0 && service.timeLeft <= time.Minute; got != bounded {
			t.Errorf("%s: the service has %s to answer", s, service.timeLeft)
		}
	}
}

// The monotonic clock stops while the machine sleeps. What a call was looked at for may have changed meanwhile. After
// hours, another operator may have ended it.
func TestCallsAfterTheMachineSlept(t *testing.T) {
	t.Parallel()
	for seconds, want := range map[uint32]step{0: stepSend, 2: stepVerify, 3600: stepEnd} {
		before := time.Now()
		f := own(callFacts{phase: verified, started: before, looked: before})
		f.now = await.Asleep(before, seconds)
		if got := decide(f).Step; got != want {
			t.Errorf("after %d seconds of sleep: %s, want %s", seconds, got, want)
		}
	}
}
