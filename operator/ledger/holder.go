package ledger

import (
	"context"
	"iter"
	"slices"
	"strconv"
	"strings"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/mandate-io/idv/api/v1alpha1"
)

// HeldByOther reports whether the record of another Mandate has the application of spec. It asks the API server for
// the records that may, of which there are few, however large the ledger is.
func (l *Ledger) HeldByOther(
	ctx context.Context, mandate types.NamespacedName, spec v1alpha1.ApplicationRecordSpec,
) (bool, error) {
	for _, search := range l.searches(mandate, &spec) {
		for other, err := range l.all(ctx, search...) {
			if err != nil || holds(other, mandate, &spec) {
				return err == nil, err
			}
		}
	}
	return false, nil
}

// holds reports whether a record has the application of spec. In the namespace of the Mandate, it has the id, and the
// service or the reference: the service may have moved. In another namespace, somebody can have a service of their own
// answer with any id. There, a record counts only if it has the reference, too, and the same service proved that. With
// a ClusterIdentityService, an attempt with the reference counts, whose outcome is unknown.
func holds(other *v1alpha1.ApplicationRecord, mandate types.NamespacedName, spec *v1alpha1.ApplicationRecordSpec) bool {
	id := other.Spec.ApplicationID
	sameID := id != nil && *id == *spec.ApplicationID
	sameURL := other.Spec.ServiceURL == spec.ServiceURL
	sameReference := strings.EqualFold(other.Spec.Reference, spec.Reference)
	shared := isShared(spec) && other.Spec.ServiceRef == spec.ServiceRef
	switch {
	case client.ObjectKeyFromObject(other) == mandate:
		return false
	case other.Namespace == mandate.Namespace:
		return sameID && (sameURL || sameReference)
	case id == nil:
		return sameReference && shared && MayExist(other)
	default:
		return sameReference && sameID // at the same service: other records are not searched for
	}
}

func isShared(spec *v1alpha1.ApplicationRecordSpec) bool {
	return spec.ServiceRef.Kind == v1alpha1.ServiceKindClusterIdentityService
}

// searches select every record that holds accepts, by what the API server can select them by. Those of other services
// are not among them: there can be any number.
func (l *Ledger) searches(
	mandate types.NamespacedName, spec *v1alpha1.ApplicationRecordSpec,
) (all [][]client.ListOption) {
	add := func(namespaces []string, fields client.MatchingFields) {
		for _, namespace := range namespaces {
			all = append(all, []client.ListOption{client.InNamespace(namespace), fields})
		}
	}
	id := strconv.FormatInt(*spec.ApplicationID, 10)
	add(l.namespaces(), client.MatchingFields{"spec.applicationID": id, "spec.serviceURL": spec.ServiceURL})
	add([]string{mandate.Namespace}, client.MatchingFields{"spec.applicationID": id})
	if isShared(spec) {
		add(l.namespaces(), client.MatchingFields{
			"spec.reference": spec.Reference, "spec.serviceRef.kind": string(spec.ServiceRef.Kind),
			"spec.serviceRef.name": spec.ServiceRef.Name,
		})
	}
	return all
}

// all are the records that the options select, or an error. It has a page of them in memory.
func (l *Ledger) all(
	ctx context.Context, options ...client.ListOption,
) iter.Seq2[*v1alpha1.ApplicationRecord, error] {
	return func(yield func(*v1alpha1.ApplicationRecord, error) bool) {
		for next := ""; ; {
			var page v1alpha1.ApplicationRecordList
			paged := slices.Concat(options, []client.ListOption{client.Limit(pageSize), client.Continue(next)})
			if err := l.Reader.List(ctx, &page, paged...); err != nil {
				yield(nil, err)
				return
			}
			for i := range page.Items {
				if !yield(&page.Items[i], nil) {
					return
				}
			}
			if next = page.Continue; next == "" {
				return
			}
		}
	}
}

// Begun are the requests of a service that spec.creation limits and that may have been carried out, with the times at
// which the last of each call was begun, after a time. The namespace is that of the service, "" for a
// ClusterIdentityService.
func (l *Ledger) Begun(
	ctx context.Context, service v1alpha1.IdentityServiceReference, namespace string, after time.Time,
) ([]v1alpha1.CreationReservation, error) {
	namespaces := []string{namespace}
	if namespace == "" {
		namespaces = l.namespaces()
	}
	var begun []v1alpha1.CreationReservation
	for _, namespace := range namespaces {
		for record, err := range l.all(ctx, client.InNamespace(namespace), client.MatchingFields{
			"spec.serviceRef.kind": string(service.Kind), "spec.serviceRef.name": service.Name,
		}) {
			if err != nil {
				return nil, err
			}
			for i := range record.Spec.Calls {
				if c := &record.Spec.Calls[i]; IsLimited(c.Kind) && c.Sends > 0 && c.StartedTime.After(after) {
					begun = append(begun, v1alpha1.CreationReservation{
						Time: metav1.NewTime(c.StartedTime.Time), Count: c.Sends,
					})
				}
			}
		}
	}
	return begun, nil
}
