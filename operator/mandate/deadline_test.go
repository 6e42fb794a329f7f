package mandate

import (
	"context"
	"testing"
	"time"

	"k8s.io/utils/clock"

	"github.com/mandate-io/idv/api/v1alpha1"
	idv "github.com/mandate-io/idv/internal/client"
	"github.com/mandate-io/idv/operator/engine"
)

// slowService keeps how long it may take for an answer.
type slowService struct {
	ServiceClient
	timeLeft time.Duration
}

func (s *slowService) RetrieveApplication(ctx context.Context, _ int64) (*idv.Application, error) {
	deadline, _ := ctx.Deadline()
	s.timeLeft = time.Until(deadline)
	return nil, &idv.Error{Kind: idv.KindTimeout}
}

// A call to the service ends with the deadline of the reconciliation.
func TestCallsHaveADeadline(t *testing.T) {
	t.Parallel()
	service := &slowService{}
	r := connected(&Reconciler{}, scope{mandate: &v1alpha1.Mandate{}, facts: facts{id: 1}}, service)
	r.deadline = engine.NewDeadline(clock.RealClock{})
	if err := r.Perform(t.Context(), stepRead); err != nil {
		t.Fatal(err)
	}
	if service.timeLeft <= 0 || service.timeLeft > time.Minute {
		t.Errorf("the service has %s to answer", service.timeLeft)
	}
}
