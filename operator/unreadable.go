package operator

import (
	"github.com/prometheus/client_golang/prometheus"
	"k8s.io/apimachinery/pkg/types"
	toolscache "k8s.io/client-go/tools/cache"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/mandate-io/idv/internal/tolerant"
)

// kindRecord is not watched: the sweep of the ledger finds its unreadable objects.
const kindRecord = "ApplicationRecord"

var unreadableCount = metric.NewGaugeVec(prometheus.GaugeOpts{
	Name: "idv_unreadable_objects",
	Help: "Objects with fields that cannot be decoded, by kind. The operator does not act on them. Its log names them.",
}, []string{"kind"})

// countUnreadable counts the objects of an informer that were not decoded completely, and names each of them once in
// the log.
func countUnreadable(kind string, informer toolscache.SharedIndexInformer) {
	changed := func(before, after any) {
		was, fields := len(tolerant.UnreadableFields(before)) > 0, tolerant.UnreadableFields(after)
		switch is := len(fields) > 0; {
		case is && !was:
			if object, ok := after.(client.Object); ok {
				logUnreadable(kind, client.ObjectKeyFromObject(object), fields)
			}
			unreadableCount.WithLabelValues(kind).Inc()
		case was && !is:
			unreadableCount.WithLabelValues(kind).Dec()
		}
	}
	// The one error is that the informer has stopped.
	_, _ = informer.AddEventHandler(toolscache.ResourceEventHandlerFuncs{
		AddFunc:    func(object any) { changed(nil, object) },
		UpdateFunc: changed,
		DeleteFunc: func(object any) {
			if missed, ok := object.(toolscache.DeletedFinalStateUnknown); ok {
				object = missed.Obj
			}
			changed(object, nil)
		},
	})
}

// countUnreadableRecords returns what takes, after each sweep of the ledger, all records that were not decoded
// completely, and their fields.
func countUnreadableRecords() func(map[types.NamespacedName][]string) {
	var known map[types.NamespacedName][]string
	return func(found map[types.NamespacedName][]string) {
		for name, fields := range found {
			if known[name] == nil {
				logUnreadable(kindRecord, name, fields)
			}
		}
		known = found
		unreadableCount.WithLabelValues(kindRecord).Set(float64(len(found)))
	}
}

func logUnreadable(kind string, name types.NamespacedName, fields []string) {
	ctrl.Log.Error(nil, "Not acting on an object with fields that cannot be decoded",
		"kind", kind, "namespace", name.Namespace, "name", name.Name, "fields", fields)
}
