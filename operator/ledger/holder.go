package ledger

import (
	"context"
	"slices"
	"strconv"
	"strings"

	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/mandate-io/idv/api/v1alpha1"
)

// search is a selection of records by what the API server can select them by.
type search struct {
	namespaces []string // "" is all
	fields     client.MatchingFields
}

// HeldByOther reports whether the record of another Mandate has the application of spec. It asks the API server for
// the records that may, of which there are few, however large the ledger is.
func (l *Ledger) HeldByOther(
	ctx context.Context, mandate types.NamespacedName, spec v1alpha1.ApplicationRecordSpec,
) (bool, error) {
	found := false
	look := func(other *v1alpha1.ApplicationRecord) bool {
		found = holds(other, mandate, &spec)
		return !found
	}
	for _, search := range l.searches(mandate, &spec) {
		for _, namespace := range search.namespaces {
			err := l.each(ctx, look, client.InNamespace(namespace), search.fields)
			if found || err != nil {
				return found, err
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

// searches find every record that holds accepts. Those of other services are not among them: there can be any number.
func (l *Ledger) searches(mandate types.NamespacedName, spec *v1alpha1.ApplicationRecordSpec) []search {
	id := strconv.FormatInt(*spec.ApplicationID, 10)
	all := []search{
		{l.namespaces(), client.MatchingFields{"spec.applicationID": id, "spec.serviceURL": spec.ServiceURL}},
		{[]string{mandate.Namespace}, client.MatchingFields{"spec.applicationID": id}},
	}
	if isShared(spec) {
		all = append(all, search{l.namespaces(), client.MatchingFields{
			"spec.reference": spec.Reference, "spec.serviceRef.kind": string(spec.ServiceRef.Kind),
			"spec.serviceRef.name": spec.ServiceRef.Name,
		}})
	}
	return all
}

// each calls do with each record that the options select, until do reports false. It has a page of them in memory.
func (l *Ledger) each(
	ctx context.Context, do func(*v1alpha1.ApplicationRecord) bool, options ...client.ListOption,
) error {
	for next := ""; ; {
		var page v1alpha1.ApplicationRecordList
		paged := slices.Concat(options, []client.ListOption{client.Limit(pageSize), client.Continue(next)})
		if err := l.Reader.List(ctx, &page, paged...); err != nil {
			return err
		}
		for i := range page.Items {
			if !do(&page.Items[i]) {
				return nil
			}
		}
		if next = page.Continue; next == "" {
			return nil
		}
	}
}
