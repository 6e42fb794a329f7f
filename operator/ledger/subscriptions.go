package ledger

import (
	"context"

	"github.com/mandate-io/idv/api/v1alpha1"
)

// StartSubscription records that the application is going to be subscribed. Only the operator whose StartSubscription
// succeeds may send the request. It fails with ErrLost if the record has changed since it was read.
func (l *Ledger) StartSubscription(
	ctx context.Context, record *v1alpha1.ApplicationRecord, subscription v1alpha1.RecordedSubscription,
) (*v1alpha1.ApplicationRecord, error) {
	started, err := l.patch(ctx, record,
		testOperation("/metadata/resourceVersion", record.ResourceVersion),
		patchOperation{"add", "/spec/subscription", subscription})
	if err == nil && !hasSubscription(started, subscription) {
		return nil, ErrIncomplete
	}
	return started, err
}

// RefuseSubscription records that the service refused a subscription that was started. It fails with ErrLost if the
// record has changed since it was read.
func (l *Ledger) RefuseSubscription(
	ctx context.Context, record *v1alpha1.ApplicationRecord,
) (*v1alpha1.ApplicationRecord, error) {
	refused := *record.Spec.Subscription
	refused.Refused = true
	return l.StartSubscription(ctx, record, refused)
}

// hasSubscription reports whether the API server kept a subscription.
func hasSubscription(record *v1alpha1.ApplicationRecord, wanted v1alpha1.RecordedSubscription) bool {
	got := record.Spec.Subscription
	return got != nil && got.Ordinal == wanted.Ordinal && got.Refused == wanted.Refused &&
		got.StartedTime.Equal(&wanted.StartedTime)
}
