package operator

import (
	"context"
	"errors"
	"os"
	"strings"
	"time"

	coordinationv1 "k8s.io/api/coordination/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/wait"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/log"

	"github.com/mandate-io/idv/api/v1alpha1"
	"github.com/mandate-io/idv/operator/apierror"
	"github.com/mandate-io/idv/operator/ledger"
)

// restoreInterval is shorter than a Lease lasts: a replica that has seen what was before the restore of etcd says so
// before another one, which has not, can lead.
const restoreInterval = 2 * time.Second

// errUnmarked ends a replica: its caches may wait for a resourceVersion that is still to come, so it must not lead.
var errUnmarked = errors.New("somebody has removed the annotation " + v1alpha1.RestoredAnnotation +
	" of the Lease: the next process begins with what the API server has now, and sends again")

// restoreCheck notices on every replica that etcd was restored from a backup, and says so in the Lease. The leader ends
// with its Lease while the API server is away, and what it knew ends with it. The other replicas go on until a person
// removes the annotation.
type restoreCheck struct {
	live      client.Reader
	writer    client.Writer
	revisions *ledger.Revisions
	namespace string // one that it may read; "": all
	lease     client.ObjectKey
	marked    bool // the Lease said so at the last look
}

func addRestoreCheck(manager ctrl.Manager, records *ledger.Ledger, options *Options) error {
	return errors.Join(
		manager.AddReadyzCheck("not-restored", records.Revisions.Check),
		manager.Add(&restoreCheck{
			live: records.Reader, writer: writerOf(manager), revisions: records.Revisions,
			lease: options.leaseKey(), namespace: append(options.namespaces(), "")[0],
		}),
	)
}

// NeedLeaderElection makes every replica look.
func (*restoreCheck) NeedLeaderElection() bool { return false }

// Start looks until ctx ends, or a person has removed the annotation.
func (c *restoreCheck) Start(ctx context.Context) error {
	ended := wait.PollUntilContextCancel(ctx, restoreInterval, true, func(ctx context.Context) (bool, error) {
		switch err := c.look(ctx); {
		case errors.Is(err, errUnmarked):
			return true, err
		case err != nil && ctx.Err() == nil:
			log.FromContext(ctx).V(1).Info("Cannot compare the resourceVersion", "error", apierror.Redact(err).Error())
		}
		return false, nil
	})
	if errors.Is(ended, errUnmarked) {
		return ended
	}
	return nil
}

// look compares the resourceVersion of the API server.
func (c *restoreCheck) look(ctx context.Context) error {
	before := c.revisions.Highest()
	records := &metav1.PartialObjectMetadataList{}
	records.SetGroupVersionKind(v1alpha1.SchemeGroupVersion.WithKind("ApplicationRecordList"))
	if err := c.live.List(ctx, records, client.InNamespace(c.namespace), client.Limit(1)); err != nil {
		return err
	}
	c.revisions.Compare(records.ResourceVersion, before)
	log.FromContext(ctx).V(2).Info("Compared the resourceVersion")
	if c.lease.Name == "" {
		return nil
	}
	lease := &coordinationv1.Lease{}
	if err := c.live.Get(ctx, c.lease, lease); err != nil {
		return client.IgnoreNotFound(err)
	}
	_, marked := lease.Annotations[v1alpha1.RestoredAnnotation]
	switch {
	case marked && !c.marked:
		c.revisions.Hold()
		log.FromContext(ctx).Error(ledger.ErrBackwards, "Sending nothing more")
	case c.marked && !marked:
		return errUnmarked
	case c.revisions.Check(nil) != nil && !marked:
		metav1.SetMetaDataAnnotation(&lease.ObjectMeta, v1alpha1.RestoredAnnotation, time.Now().UTC().Format(time.RFC3339))
		return c.writer.Update(ctx, lease) // after a conflict, the next look says it
	}
	c.marked = marked
	return nil
}

// leaseKey is that of the Lease for which the replicas compete; no name if they do not.
func (o *Options) leaseKey() client.ObjectKey {
	if !o.leaderElect {
		return client.ObjectKey{}
	}
	namespace := o.leaderElectionNamespace
	if namespace == "" { // the manager takes the same one
		own, _ := os.ReadFile("/var/run/secrets/kubernetes.io/serviceaccount/namespace")
		namespace = strings.TrimSpace(string(own))
	}
	return client.ObjectKey{Namespace: namespace, Name: o.leaderElectionID}
}
