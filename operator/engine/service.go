package engine

import (
	"cmp"
	"context"
	"errors"
	"slices"

	"sigs.k8s.io/controller-runtime/pkg/controller/controllerutil"

	"github.com/mandate-io/idv/api/v1alpha1"
	idv "github.com/mandate-io/idv/internal/client"
	"github.com/mandate-io/idv/operator/apierror"
	"github.com/mandate-io/idv/operator/connection"
)

// ServiceFacts is what is known of the service that a Mandate uses.
type ServiceFacts struct {
	Exists   bool // there is an IdentityService
	Denied   bool // it is not for this namespace
	Deleting bool // it goes when nobody needs it any more
	Known    bool // there is a connection that was made from it as it is now, so its URL and settings are known
	Ready    bool
	// OnlyWritesFail: it is not Ready, and applications can be found again.
	OnlyWritesFail bool
	// CreationSuspended: nothing is sent that e-mails individuals.
	CreationSuspended bool
	// Account says whether the account has shown that it has the applications.
	Account connection.AccountState
}

// UnknownReason says why nothing is known of the service, or "".
func (f ServiceFacts) UnknownReason() string {
	return cmp.Or(
		If(!f.Exists, v1alpha1.ReasonIdentityServiceNotFound),
		If(f.Denied, v1alpha1.ReasonIdentityServiceNotAllowed),
		If(!f.Known, v1alpha1.ReasonIdentityServiceNotReady),
	)
}

// UnusableReason says why no request can be sent to the service, or "".
func (f ServiceFacts) UnusableReason() string {
	return cmp.Or(f.UnknownReason(), If(!f.Ready, v1alpha1.ReasonIdentityServiceNotReady))
}

// AccountConfirmed reports whether applications may be created with the account.
func (f ServiceFacts) AccountConfirmed() bool { return f.Account == connection.AccountConfirmed }

// AccountSought reports whether somebody looks for a proof that the account has the applications.
func (f ServiceFacts) AccountSought() bool { return f.Account == connection.AccountSought }

// MayRecover reports whether an application may be read that may be the one of a create whose answer was lost.
func (f ServiceFacts) MayRecover() bool {
	return f.UnknownReason() == "" && (f.Ready || f.OnlyWritesFail)
}

// Services gives reconciliations the connections of their Mandates.
type Services struct {
	// ServiceReader reads from the cache.
	connection.ServiceReader
	Connections *connection.Registry
}

// Session is how one reconciliation uses a service.
type Session struct {
	Key connection.Key
	// Connection is set if the service is Known.
	Connection connection.Connection
	// Slot of the connection's concurrency limiter.
	Slot connection.Slot
	// InUse: from IsCurrent, the deletion of the service waits for its Mandates.
	InUse bool
}

// Resolve finds the connection that a Mandate uses. A connection that was made from an earlier version of the service
// is not the one: its URL or prefix may be another's. The session keeps its slot.
func (s *Session) Resolve(ctx context.Context, services *Services, mandate *v1alpha1.Mandate) (ServiceFacts, error) {
	s.Key = connection.KeyOf(mandate)
	s.Connection = connection.Connection{}
	service, access, err := services.Find(ctx, s.Key, mandate.Namespace)
	switch {
	case apierror.IsUnreadable(err):
		return ServiceFacts{Exists: true}, nil
	case err != nil || access == connection.Absent:
		return ServiceFacts{}, err
	case access == connection.Denied:
		return ServiceFacts{Exists: true, Denied: true}, nil
	}
	facts := ServiceFacts{
		Exists: true, Deleting: !service.GetDeletionTimestamp().IsZero(),
		CreationSuspended: service.Settings().Creation.Suspend,
	}
	found, ok := services.Connections.Get(s.Key)
	if ok && found.IsOf(service) {
		s.Connection = found
		facts.Known = true
		facts.Ready, facts.OnlyWritesFail = found.Ready, found.OnlyWritesFail
		facts.Account = found.AccountState
	}
	return facts, nil
}

// IsCurrent reports whether the connection is that of the service as it is now, read past the cache, and the namespace
// may use it. gone reports that there is no such service.
func (s *Session) IsCurrent(
	ctx context.Context, live *connection.LiveReader, namespace string,
) (current, gone bool, err error) {
	service, access, err := live.Find(ctx, s.Key, namespace)
	if err != nil || access != connection.Granted {
		return false, err == nil && access == connection.Absent, err
	}
	s.InUse = controllerutil.ContainsFinalizer(service, v1alpha1.ServiceFinalizer)
	used := &s.Connection
	current = used.IsOf(service) && (!used.Vouched || connection.IsVouchedFor(service, used.Account))
	return current, false, nil
}

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

// Prepare waits for the rate limit, the token and the connection of a call before it begins. So the request follows the
// last look at what orders it at once, and a call that cannot be sent now is not written.
func Prepare(ctx context.Context, service ServiceClient, kind v1alpha1.CallKind) (*idv.Permit, error) {
	return service.Prepare(ctx, operations[kind])
}

// IsConnectionError reports whether the error of a read says nothing about the application: none could be read.
func IsConnectionError(ctx context.Context, err error) bool {
	e, ok := errors.AsType[*idv.Error](err)
	return !ok || e.Login || ctx.Err() != nil ||
		slices.Contains([]idv.Kind{idv.KindUnreachable, idv.KindRateLimited, idv.KindCanceled}, e.Kind)
}
