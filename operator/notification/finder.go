package notification

import (
	"cmp"
	"context"
	"errors"
	"slices"
	"time"

	"golang.org/x/time/rate"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/utils/clock"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/builder"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	"github.com/mandate-io/idv/api/v1alpha1"
	idv "github.com/mandate-io/idv/internal/client"
	"github.com/mandate-io/idv/internal/reference"
	"github.com/mandate-io/idv/operator/apierror"
	"github.com/mandate-io/idv/operator/connection"
	"github.com/mandate-io/idv/operator/engine"
)

const (
	// maxFinderRate is how many ids are read each second by way of one connection, and maxFinderBurst how many at once.
	maxFinderRate, maxFinderBurst = 1, 10
	// maxFinders is how many connections are read from at a time. All ids of one may take twice as long as one id.
	maxFinders, readTimeout = 100, 10 * time.Second
	// lagAllowance is after how long an id is read again that showed no reference: a read may lag behind the create.
	// retryInterval is after how long it is tried again what said nothing about the id.
	lagAllowance, retryInterval = 30 * time.Second, 5 * time.Second
	// maxFailures is how often an id is read for which the service fails, within a quarter of an hour: as long as an
	// outage may last that made an answer be lost.
	maxFailures = 6
	// namedInterval is how long an id is not read again that was named to its Mandate.
	namedInterval = 10 * time.Second
)

// Finder reads the applications whose ids are on services, each once, and names each to the Mandate whose reference it
// shows. That Mandate reads it as well, before it binds it. Only the leader runs it.
type Finder struct {
	accounts
	connections *connection.Registry
	clock       clock.PassiveClock
	limiters    perKey[connection.Key, *rate.Limiter]
	reads       perKey[readKey, *idRead]
}

// readKey is an id of a connection as it is: with other credentials or at another service, it may be another's id.
type readKey struct {
	connection.Key
	credentials [32]byte
	generation  int64
	id          int64
}

// idRead is what is known of an id.
type idRead struct {
	next    time.Time // when it may be read again
	inVain  int       // reads in a row that did not show whose it is
	foreign bool      // it shows the reference of no Mandate that has no application
}

// NewFinder makes a Finder. The cache has services and Mandates, with the index connection.MandateField.
func NewFinder(services connection.ServiceReader, connections *connection.Registry, metadata client.Writer) *Finder {
	return &Finder{
		accounts: accounts{services, metadata}, connections: connections, clock: clock.RealClock{},
		limiters: newPerKey[connection.Key](func() *rate.Limiter { return rate.NewLimiter(maxFinderRate, maxFinderBurst) }),
		reads:    newPerKey[readKey](func() *idRead { return &idRead{} }),
	}
}

// SetupWithManager registers the controller.
func (f *Finder) SetupWithManager(manager ctrl.Manager) error {
	controlled := builder.TypedControllerManagedBy[connection.Key](manager).Named("unknown-ids").
		WithOptions(engine.ControllerOptions[connection.Key](maxFinders)).
		Watches(&v1alpha1.IdentityService{}, engine.EnqueueService)
	if f.ClusterServices {
		controlled.Watches(&v1alpha1.ClusterIdentityService{}, engine.EnqueueService)
	}
	return controlled.Complete(f)
}

// Reconcile reads the ids on one service that are due, one after the other, and takes those off that have an answer.
func (f *Finder) Reconcile(ctx context.Context, key connection.Key) (reconcile.Result, error) {
	service, err := f.service(ctx, key)
	if isGone(err) {
		return reconcile.Result{}, nil
	}
	ids := engine.IDsIn(service, v1alpha1.UnknownIDsAnnotation)
	if err != nil || len(ids) == 0 {
		return reconcile.Result{}, apierror.Redact(err)
	}
	used, ok := f.connections.Get(key)
	if !ok || !used.IsOf(service) || !used.Ready && !used.OnlyWritesFail {
		return reconcile.Result{RequeueAfter: retryInterval}, nil
	}
	var left []int64
	var after time.Duration
	reading, cancel := context.WithTimeout(ctx, 2*readTimeout)
	defer cancel()
	for _, id := range ids {
		wait, failed := f.look(reading, service, &used, id)
		if wait > 0 {
			left, after = append(left, id), cmp.Or(min(after, wait), wait)
		}
		err = errors.Join(err, unlessStale(failed))
	}
	if len(left) < len(ids) {
		failed := f.annotate(ctx, string(key.Kind), service, map[string]string{
			v1alpha1.UnknownIDsAnnotation: engine.FormatIDs(left),
		})
		err = errors.Join(err, unlessStale(failed))
	}
	return reconcile.Result{RequeueAfter: after}, err
}

// unlessStale is the error of a write, unless the object has changed: the cache will show that, and then it is written.
func unlessStale(err error) error {
	if apierrors.IsConflict(err) || apierrors.IsNotFound(err) {
		return nil
	}
	return apierror.Redact(err)
}

// look reads the application with an id, if it is due. It says when the id is due again; 0: it has an answer, or gets
// none.
func (f *Finder) look(
	ctx context.Context, service connection.Service, used *connection.Connection, id int64,
) (wait time.Duration, err error) {
	key, now := connection.KeyOfService(service), f.clock.Now()
	read := f.reads.of(readKey{key, used.Credentials, used.Generation, id})
	switch {
	case read.foreign:
		return 0, nil
	case now.Before(read.next):
		return read.next.Sub(now), nil
	case !f.limiters.of(key).AllowN(now, 1):
		return time.Second / maxFinderRate, nil
	}
	bounded, cancel := context.WithTimeout(idv.WithUntrustedID(ctx), readTimeout)
	defer cancel()
	application, err := used.Client.RetrieveApplication(bounded, id)
	switch {
	case err == nil && application.Reference != "":
		named, err := f.name(ctx, service, application.Reference, id)
		if err != nil {
			return retryInterval, err
		}
		*read = idRead{foreign: !named, next: now.Add(namedInterval)}
		return 0, nil
	case err != nil && (engine.IsConnectionError(ctx, err) || idv.OutcomeOf(err) == idv.NotSent):
		return retryInterval, nil // that says nothing about the id
	}
	return read.failed(now, idv.IsServiceFault(err)), nil
}

// failed says when an id is due again that was read in vain; 0: when it is named again.
func (read *idRead) failed(now time.Time, isFault bool) time.Duration {
	most := 2
	if isFault {
		most = maxFailures
	}
	wait := lagAllowance << read.inVain
	read.next, read.inVain = now.Add(wait), read.inVain+1
	if read.inVain < most {
		return wait
	}
	*read = idRead{next: now.Add(lagAllowance)}
	return 0
}

// name names an application to the Mandate that has no other one and its reference, at the account of a service. That
// reads it now, however often it was named before. It reports whether there is such a Mandate.
func (f *Finder) name(ctx context.Context, of connection.Service, shown string, id int64) (named bool, err error) {
	m, err := f.mandateOf(ctx, of, shown)
	if err != nil || m == nil {
		return false, err
	}
	ids := slices.DeleteFunc(engine.IDsIn(m, v1alpha1.CandidateAnnotation), func(other int64) bool { return other == id })
	annotations := map[string]string{v1alpha1.CandidateAnnotation: engine.FormatIDs(append(ids, id))}
	if isAcknowledged(m) {
		last := engine.ParseNotificationRequest(engine.ReconcileRequest(m))
		annotations[v1alpha1.ReconcileRequestAnnotation] = last.Next(f.clock.Now()).String()
	}
	return true, f.annotate(ctx, kindMandate, m, annotations)
}

func (f *Finder) mandateOf(ctx context.Context, of connection.Service, shown string) (*v1alpha1.Mandate, error) {
	account, err := f.peers(ctx, of)
	for key, peer := range account {
		var mandates v1alpha1.MandateList
		err = errors.Join(err, f.Reader.List(ctx, &mandates, client.UnsafeDisableDeepCopy,
			client.InNamespace(peer.GetNamespace()),
			client.MatchingFields{connection.MandateField: key.String()}))
		for i := range mandates.Items {
			m := &mandates.Items[i]
			if m.Status.ApplicationID == nil && shown == cmp.Or(m.Status.Reference, m.Spec.Reference,
				reference.Mandate(peer.Settings().ReferencePrefix, m.Namespace, m.Name)) {
				return m, nil
			}
		}
	}
	return nil, err
}
