package operator

import (
	"maps"
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
	see := func(object any) { u.record(kind, object) }
	// The one error is that the informer has stopped.
	_, _ = informer.AddEventHandler(toolscache.ResourceEventHandlerFuncs{
		AddFunc: see, UpdateFunc: func(_, object any) { see(object) },
		DeleteFunc: func(object any) { u.forget(kind, object) },
	})
}

func (u *unreadableObjects) record(kind string, object any) {
	fields := tolerant.UnreadableFields(object)
	if len(fields) == 0 {
		u.forget(kind, object)
		return
	}
	name, err := toolscache.ObjectToName(object)
	if err != nil {
		return
	}
	u.mu.Lock()
	defer u.mu.Unlock()
	u.add(kind, types.NamespacedName(name), fields)
}

// add is called with the lock.
func (u *unreadableObjects) add(kind string, name types.NamespacedName, fields []string) {
	if u.known[kind] == nil {
		u.known[kind] = map[types.NamespacedName]bool{}
	}
	if !u.known[kind][name] {
		u.logger.Error(nil, "Not acting on an object with fields that cannot be decoded",
			"kind", kind, "namespace", name.Namespace, "name", name.Name, "fields", fields)
	}
	u.known[kind][name] = true
	unreadableCount.WithLabelValues(kind).Set(float64(len(u.known[kind])))
}

func (u *unreadableObjects) forget(kind string, object any) {
	name, err := toolscache.DeletionHandlingObjectToName(object)
	u.mu.Lock()
	defer u.mu.Unlock()
	if err == nil && len(u.known[kind]) > 0 {
		delete(u.known[kind], types.NamespacedName(name))
		unreadableCount.WithLabelValues(kind).Set(float64(len(u.known[kind])))
	}
}

// replaceRecords takes all ApplicationRecords that were not decoded completely, and their fields.
func (u *unreadableObjects) replaceRecords(unreadable map[types.NamespacedName][]string) {
	u.mu.Lock()
	defer u.mu.Unlock()
	maps.DeleteFunc(u.known[kindRecord], func(name types.NamespacedName, _ bool) bool { return unreadable[name] == nil })
	unreadableCount.WithLabelValues(kindRecord).Set(float64(len(u.known[kindRecord])))
	for name, fields := range unreadable {
		u.add(kindRecord, name, fields)
	}
}
