package operator

import (
	"maps"
	"slices"
	"sync"

	"github.com/go-logr/logr"
	"github.com/prometheus/client_golang/prometheus"
	"k8s.io/apimachinery/pkg/types"
	toolscache "k8s.io/client-go/tools/cache"

	"github.com/mandate-io/idv/internal/tolerant"
)

// kindRecord is not watched: the sweep of the ledger finds its unreadable objects.
const kindRecord = "ApplicationRecord"

var unreadableCount = prometheus.NewGaugeVec(prometheus.GaugeOpts{
	Name: "idv_unreadable_objects",
	Help: "Objects with fields that cannot be decoded, by kind. The operator does not act on them. Its log names them.",
}, []string{"kind"})

// unreadableObjects counts the objects that were not decoded completely, and names each of them once in the log.
type unreadableObjects struct {
	logger logr.Logger

	mu    sync.Mutex
	known map[string]map[types.NamespacedName]bool // by kind
}

func newUnreadableObjects(logger logr.Logger) *unreadableObjects {
	return &unreadableObjects{logger: logger, known: map[string]map[types.NamespacedName]bool{}}
}

// observe follows the objects of an informer.
func (u *unreadableObjects) observe(kind string, informer toolscache.SharedIndexInformer) {
	see := func(object any, fields []string) {
		if name, err := toolscache.DeletionHandlingObjectToName(object); err == nil {
			u.see(kind, types.NamespacedName(name), fields)
		}
	}
	// The one error is that the informer has stopped.
	_, _ = informer.AddEventHandler(toolscache.ResourceEventHandlerFuncs{
		AddFunc:    func(object any) { see(object, tolerant.UnreadableFields(object)) },
		UpdateFunc: func(_, object any) { see(object, tolerant.UnreadableFields(object)) },
		DeleteFunc: func(object any) { see(object, nil) },
	})
}

// see takes the fields of an object that were not decoded. There are none if it is gone.
func (u *unreadableObjects) see(kind string, name types.NamespacedName, fields []string) {
	u.mu.Lock()
	defer u.mu.Unlock()
	known := u.known[kind]
	switch {
	case known[name] == (len(fields) > 0):
		return
	case known[name]:
		delete(known, name)
	default:
		if known == nil {
			known = map[types.NamespacedName]bool{}
			u.known[kind] = known
		}
		known[name] = true
		u.logger.Error(nil, "Not acting on an object with fields that cannot be decoded",
			"kind", kind, "namespace", name.Namespace, "name", name.Name, "fields", fields)
	}
	unreadableCount.WithLabelValues(kind).Set(float64(len(known)))
}

// replaceRecords takes all ApplicationRecords that were not decoded completely, and their fields.
func (u *unreadableObjects) replaceRecords(unreadable map[types.NamespacedName][]string) {
	u.mu.Lock()
	before := slices.Collect(maps.Keys(u.known[kindRecord]))
	u.mu.Unlock()
	for _, name := range before {
		u.see(kindRecord, name, unreadable[name])
	}
	for name, fields := range unreadable {
		u.see(kindRecord, name, fields)
	}
}
