package engine

import (
	"context"

	"github.com/mandate-io/idv/api/v1alpha1"
	idv "github.com/mandate-io/idv/internal/client"
)

// operations are the operations of the calls of the log.
var operations = map[v1alpha1.CallKind]idv.Operation{
	v1alpha1.CallCreate:          idv.OpCreateApplication,
	v1alpha1.CallComplete:        idv.OpCompleteApplication,
	v1alpha1.CallReject:          idv.OpRejectApplication,
	v1alpha1.CallArchive:         idv.OpArchiveApplication,
	v1alpha1.CallDelete:          idv.OpDeleteApplication,
	v1alpha1.CallAcceptCheck:     idv.OpAcceptCheck,
	v1alpha1.CallRejectCheck:     idv.OpRejectCheck,
	v1alpha1.CallResendInvite:    idv.OpResendInvites,
	v1alpha1.CallResetIndividual: idv.OpResetIndividual,
	v1alpha1.CallSubscribe:       idv.OpSubscribeWebhook,
}

// ServiceClient is what calls of all kinds need of the client of the service.
type ServiceClient interface {
	Prepare(ctx context.Context, operation idv.Operation) (*idv.Permit, error)
}

// Prepare waits for the rate limit and the token of a call before it begins. So the request follows the last look at
// what orders it at once, and a call that cannot be sent now is not written.
func Prepare(ctx context.Context, service ServiceClient, kind v1alpha1.CallKind) (*idv.Permit, error) {
	return service.Prepare(ctx, operations[kind])
}
