package ledger

import (
	"context"
	"errors"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/log"

	"github.com/mandate-io/idv/api/v1alpha1"
	"github.com/mandate-io/idv/internal/tolerant"
	"github.com/mandate-io/idv/operator/apierror"
)

// GoneSinceAnnotation is the time at which the Mandate of a record was first missing, in RFC 3339.
const GoneSinceAnnotation = "idv.mandate.io/mandate-gone-since"

// pageSize limits the records in memory.
const pageSize = 500

// Retention deletes the records of Mandates that were deleted long ago. Until then, a Mandate that is restored from a
// backup or an old commit finds its application, and creates no other.
type Retention struct {
	Ledger Ledger
	// Mandates reads Mandates from the cache.
	Mandates client.Reader
	// Keep is how long a record outlives its Mandate.
	Keep time.Duration
	// Clock is the API server's. That of this machine may be fast, and a record without which somebody can be e-mailed
	// again would be deleted too soon. The zero time is not known yet.
	Clock func() time.Time
	// Unreadable takes, after a sweep, the records that were not decoded completely, and the fields that were not.
	Unreadable func(map[types.NamespacedName][]string)

	// missing are the records that the sweep before would have deleted, and nextMissing those of this sweep.
	missing, nextMissing map[types.UID]bool
}

// Start sweeps periodically until ctx ends.
func (r *Retention) Start(ctx context.Context) error {
	ticker := time.NewTicker(min(max(r.Keep/10, time.Second), time.Hour))
	defer ticker.Stop()
	for {
		if err := r.sweep(ctx); err != nil && ctx.Err() == nil {
			log.FromContext(ctx).Error(apierror.Redact(err), "Failed to delete old ApplicationRecords, will retry")
		}
		select {
		case <-ctx.Done():
			return nil
		case <-ticker.C:
		}
	}
}

func (r *Retention) sweep(ctx context.Context) error {
	var errs []error
	r.missing, r.nextMissing = r.nextMissing, map[types.UID]bool{}
	unreadable := map[types.NamespacedName][]string{}
	for _, namespace := range r.Ledger.namespaces() {
		for record, err := range r.Ledger.all(ctx, client.InNamespace(namespace)) {
			switch {
			case err != nil:
				errs = append(errs, err)
			case len(tolerant.UnreadableFields(record)) > 0: // it is kept, whatever it is
				unreadable[client.ObjectKeyFromObject(record)] = tolerant.UnreadableFields(record)
			default:
				if err := r.sweepRecord(ctx, record); !errors.Is(err, ErrLost) && !isLost(err) { // else it is in use
					errs = append(errs, err)
				}
			}
		}
	}
	r.Unreadable(unreadable)
	return errors.Join(errs...)
}

// sweepRecord annotates a record when its Mandate is first missing, and deletes the record when that is long ago. It
// fails if the record changes meanwhile: another reconciliation is using it.
func (r *Retention) sweepRecord(ctx context.Context, record *v1alpha1.ApplicationRecord) error {
	err := r.Mandates.Get(ctx, client.ObjectKeyFromObject(record), &v1alpha1.Mandate{}) // it has the name of the record
	if client.IgnoreNotFound(err) != nil && !apierror.IsUnreadable(err) {
		return err
	}
	now := r.Clock()
	gone, annotation := apierrors.IsNotFound(err), record.Annotations[GoneSinceAnnotation]
	since, err := time.Parse(time.RFC3339, annotation)
	switch {
	case !gone && annotation == "":
		return nil
	case !gone:
		return r.annotate(ctx, record, "")
	case now.IsZero():
		return nil
	case err != nil, since.Before(record.CreationTimestamp.Time), since.After(now): // missing or wrong
		return r.annotate(ctx, record, now.UTC().Format(time.RFC3339))
	case now.Sub(since) < r.Keep:
		return nil
	case !r.missing[record.UID]: // another sweep has to find the same
		r.nextMissing[record.UID] = true
		return nil
	}
	log.FromContext(ctx).Info("Deleting an ApplicationRecord past its retention",
		"namespace", record.Namespace, "record", record.Name)
	return r.Ledger.remove(ctx, record)
}

func (r *Retention) annotate(ctx context.Context, record *v1alpha1.ApplicationRecord, since string) error {
	annotated := record.DeepCopy()
	if since == "" {
		delete(annotated.Annotations, GoneSinceAnnotation)
	} else {
		metav1.SetMetaDataAnnotation(&annotated.ObjectMeta, GoneSinceAnnotation, since)
	}
	patch := client.MergeFromWithOptions(record, client.MergeFromWithOptimisticLock{})
	return r.Ledger.Writer.Patch(ctx, annotated, patch)
}
