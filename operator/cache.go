package operator

import (
	"context"
	"errors"
	"net/http"
	"reflect"
	"strings"
	"time"

	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	toolscache "k8s.io/client-go/tools/cache"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/cache"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/healthz"

	"github.com/mandate-io/idv/api/v1alpha1"
	"github.com/mandate-io/idv/internal/tolerant"
	"github.com/mandate-io/idv/operator/connection"
	"github.com/mandate-io/idv/operator/engine"
)

func cacheOptions(namespaces []string, watched *watches) cache.Options {
	options := cache.Options{
		NewInformer: func(
			server toolscache.ListerWatcher, object runtime.Object, resync time.Duration, indexers toolscache.Indexers,
		) toolscache.SharedIndexInformer {
			kind := kindOf(object)
			informer := toolscache.NewSharedIndexInformer(watched.observe(kind, server), object, resync, indexers)
			countUnreadable(kind, informer)
			return informer
		},
		DefaultTransform: stripMetadata,
		ByObject:         map[client.Object]cache.ByObject{&v1alpha1.Mandate{}: {Transform: stripMandate(newInterner())}},
	}
	for _, namespace := range namespaces {
		if options.DefaultNamespaces == nil {
			options.DefaultNamespaces = map[string]cache.Config{}
		}
		options.DefaultNamespaces[namespace] = cache.Config{}
	}
	return options
}

// kindOf an object that is watched: its type, or the one that it has the metadata of.
func kindOf(object runtime.Object) string {
	if kind := object.GetObjectKind().GroupVersionKind().Kind; kind != "" {
		return kind
	}
	return reflect.TypeOf(object).Elem().Name()
}

// inlineMark replaces the inline personal data of an individual in the cache.
const inlineMark = "[removed]"

// stripMandate drops what the cache must not hold: who the individuals are, and the name of the application, which may
// be a person's. That is read live when it is sent, and never again. The mark says that there is something to erase.
func stripMandate(interner *interner) toolscache.TransformFunc {
	return func(object any) (any, error) {
		mandate, ok := object.(*v1alpha1.Mandate)
		if !ok {
			return object, nil
		}
		if _, err := stripMetadata(mandate); err != nil {
			return nil, err
		}
		mandate.Spec.Name = ""
		for i, individual := range mandate.Spec.Individuals {
			kept := individual.WithoutInline()
			if individual.HasInline() {
				kept.Title = inlineMark
			}
			mandate.Spec.Individuals[i] = kept
		}
		for i := range mandate.Spec.CheckReviews {
			mandate.Spec.CheckReviews[i].Comment = ""
		}
		interner.intern(mandate)
		return mandate, nil
	}
}

// stripMetadata drops what only costs memory: up to 256 KiB of annotations of each object, of which one is kubectl's
// copy of the whole spec, its labels and its owners. What is kept are the annotations that are read, cut as they are
// when they are read, and the labels of namespaces, by which services select them.
func stripMetadata(object any) (any, error) {
	metadata, err := meta.Accessor(object)
	if err != nil {
		return object, nil //nolint:nilerr // it is the mark of a deletion that a watch has missed
	}
	metadata.SetManagedFields(nil)
	metadata.SetOwnerReferences(nil)
	if _, isNamespace := object.(*metav1.PartialObjectMetadata); !isNamespace {
		metadata.SetLabels(nil)
	}
	annotations := map[string]string{}
	if unreadable, found := metadata.GetAnnotations()[tolerant.Annotation]; found {
		annotations[tolerant.Annotation] = unreadable
	}
	if annotated, ok := object.(client.Object); ok {
		for name, value := range map[string]string{
			v1alpha1.ReconcileRequestAnnotation: engine.ReconcileRequest(annotated),
			v1alpha1.CandidateAnnotation:        engine.FormatIDs(engine.IDsIn(annotated, v1alpha1.CandidateAnnotation)),
			v1alpha1.RecordCompleteAnnotation:   string(engine.CompleteRecord(annotated)),
			v1alpha1.NotCreatedAnnotation:       engine.NotCreated(annotated),
			v1alpha1.ArchivingAnnotation:        engine.ArchivingCall(annotated),
			v1alpha1.RequestedByAnnotation:      engine.RequestedBy(annotated),
			v1alpha1.UnknownIDsAnnotation:       engine.FormatIDs(engine.IDsIn(annotated, v1alpha1.UnknownIDsAnnotation)),
			v1alpha1.SameAccountAnnotation:      connection.VouchedAccount(annotated),
		} {
			if value != "" {
				annotations[name] = strings.Clone(value)
			}
		}
	}
	metadata.SetAnnotations(nil)
	if len(annotations) > 0 {
		metadata.SetAnnotations(annotations)
	}
	return object, nil
}

// cachesSynced makes /readyz true once the operator has seen the cluster.
func cachesSynced(manager ctrl.Manager) healthz.Checker {
	return func(request *http.Request) error {
		ctx, cancel := context.WithTimeout(request.Context(), time.Second)
		defer cancel()
		if !manager.GetCache().WaitForCacheSync(ctx) {
			return errors.New("the caches are not filled yet")
		}
		return nil
	}
}
