package ledger

import (
	"context"
	"errors"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/log"

	"github.com/mandate-io/idv/api/v1alpha1"
)

// GoneSinceAnnotation is on the records of Mandates that do not exist: since when that is known, RFC 3339.
const GoneSinceAnnotation = "idv.mandate.io/mandate-gone-since"

// pageSize bounds what a sweep holds in memory.
const pageSize = 500

// Retention deletes records whose Mandates have been gone for long. Until then a Mandate that comes back, from a backup or
// an old commit, finds its application again instead of creating another one.
type Retention struct {
	Ledger Ledger
	// Mandates is the cache.
	Mandates client.Reader
	// Namespaces to look in; empty is all.
	Namespaces []string
	// Keep is how long a record outlives its Mandate.
	Keep time.Duration
}

// Start sweeps now and then until ctx ends.
func (r *Retention) Start(ctx context.Context) error {
	ticker := time.NewTicker(min(max(r.Keep/10, time.Second), time.Hour))
	defer ticker.Stop()
	for {
		if err := r.sweep(ctx); err != nil && ctx.Err() == nil {
			log.FromContext(ctx).Error(err, "Failed to list old ApplicationRecords, will retry")
		}
		select {
		case <-ctx.Done():
			return nil
		case <-ticker.C:
		}
	}
}

func (r *Retention) sweep(ctx context.Context) error {
	namespaces := r.Namespaces
	if len(namespaces) == 0 {
		namespaces = []string{""}
	}
	var errs []error
	for _, namespace := range namespaces {
		page := client.ListOptions{Namespace: namespace, Limit: pageSize}
		for {
			var records v1alpha1.ApplicationRecordList
			if err := r.Ledger.Reader.List(ctx, &records, &page); err != nil {
				errs = append(errs, err)
				break
			}
			for i := range records.Items {
				errs = append(errs, r.look(ctx, &records.Items[i]))
			}
			if page.Continue = records.Continue; page.Continue == "" {
				break
			}
		}
	}
	return errors.Join(errs...)
}

// look notes since when the Mandate of a record is gone, and deletes a record that is old enough. Who has changed the record
// meanwhile has a use for it.
func (r *Retention) look(ctx context.Context, record *v1alpha1.ApplicationRecord) error {
	mandate := &v1alpha1.Mandate{}
	err := r.Mandates.Get(ctx, types.NamespacedName{Namespace: record.Namespace, Name: record.Spec.MandateRef.Name}, mandate)
	if client.IgnoreNotFound(err) != nil {
		return err
	}
	gone, note := apierrors.IsNotFound(err), record.Annotations[GoneSinceAnnotation]
	since, err := time.Parse(time.RFC3339, note)
	switch {
	case !gone && note == "":
		return nil
	case !gone:
		return ignoreLost(r.note(ctx, record, ""))
	case err != nil: // not noted, or not readable
		return ignoreLost(r.note(ctx, record, time.Now().UTC().Format(time.RFC3339)))
	case time.Since(since) < r.Keep:
		return nil
	}
	log.FromContext(ctx).Info("Deleting an ApplicationRecord past its retention", "namespace", record.Namespace, "record", record.Name)
	return ignoreLost(r.Ledger.Release(ctx, record))
}

func (r *Retention) note(ctx context.Context, record *v1alpha1.ApplicationRecord, since string) error {
	noted := record.DeepCopy()
	delete(noted.Annotations, GoneSinceAnnotation)
	if since != "" {
		if noted.Annotations == nil {
			noted.Annotations = map[string]string{}
		}
		noted.Annotations[GoneSinceAnnotation] = since
	}
	return r.Ledger.Writer.Patch(ctx, noted, client.MergeFromWithOptions(record, client.MergeFromWithOptimisticLock{}))
}

func ignoreLost(err error) error {
	if errors.Is(err, ErrLost) || isLost(err) {
		return nil
	}
	return err
}
