package operator

import (
	"cmp"
	"context"
	"maps"
	"slices"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/manager"
	"sigs.k8s.io/controller-runtime/pkg/metrics"

	"github.com/mandate-io/idv/api/v1alpha1"
	"github.com/mandate-io/idv/operator/connection"
	"github.com/mandate-io/idv/operator/engine"
)

// computed are metrics that are computed whenever they are asked for.
type computed struct {
	metrics []*prometheus.Desc
	compute func(add)
}

// add adds to the value that a metric has for some labels.
type add func(metric *prometheus.Desc, value float64, labels ...string)

// Describe implements prometheus.Collector.
func (c computed) Describe(descriptions chan<- *prometheus.Desc) {
	for _, metric := range c.metrics {
		descriptions <- metric
	}
}

// series is a metric with labels, of which it has as many as its description says.
type series struct {
	metric *prometheus.Desc
	number int
	labels [4]string
}

// sum computes the metrics.
func (c computed) sum() map[series]float64 {
	sums := map[series]float64{}
	c.compute(func(metric *prometheus.Desc, value float64, labels ...string) {
		key := series{metric: metric, number: len(labels)}
		copy(key.labels[:], labels)
		sums[key] += value
	})
	return sums
}

// Collect implements prometheus.Collector.
func (c computed) Collect(values chan<- prometheus.Metric) {
	for s, value := range c.sum() {
		kind := prometheus.GaugeValue
		if s.metric == recordFailures {
			kind = prometheus.CounterValue
		}
		values <- prometheus.MustNewConstMetric(s.metric, kind, value, s.labels[:s.number]...)
	}
}

// leaderMetrics has something counted until ctx ends. The manager starts it with the controllers, where this replica
// leads: all replicas have the cache, and a sum over them would count each Mandate as often as there are replicas.
func leaderMetrics(counted computed) manager.RunnableFunc {
	return func(ctx context.Context) error {
		if err := metrics.Registry.Register(counted); err != nil {
			return err
		}
		<-ctx.Done()
		metrics.Registry.Unregister(counted)
		return nil
	}
}

// Kinds of objects for which requests are sent.
const (
	kindMandate = "Mandate"
	kindAction  = "MandateAction"
)

var (
	unrecordedAttempts = prometheus.NewDesc(
		"idv_unrecorded_attempts",
		"Requests that act on people, whose results the API server refuses to record, by kind. They are lost if the "+
			"operator ends.",
		[]string{"kind"}, nil)
	recordFailures = prometheus.NewDesc(
		"idv_record_failures_total",
		"Tries to record the result of a request that acts on people, which the API server refused, by kind. The operator "+
			"tries again.",
		[]string{"kind"}, nil)
)

// attempts are those of the objects of one kind.
type attempts interface {
	Unrecorded() int
	FailedRecords() int
}

// attemptMetrics count the attempts of each kind that are not recorded.
func attemptMetrics(kinds map[string]attempts) computed {
	return computed{[]*prometheus.Desc{unrecordedAttempts, recordFailures}, func(add add) {
		for kind, attempts := range kinds {
			add(unrecordedAttempts, float64(attempts.Unrecorded()), kind)
			add(recordFailures, float64(attempts.FailedRecords()), kind)
		}
	}}
}

var unreadableWatches = prometheus.NewDesc("idv_unreadable_watches",
	"1 if the watch of a kind has not been readable for a minute, else 0.", []string{"kind"}, nil)

// watchMetrics tell which watches cannot be read.
func watchMetrics(watched *watches) computed {
	return computed{[]*prometheus.Desc{unreadableWatches}, func(add add) {
		for _, kind := range watchedKinds {
			value := 0.0
			if !watched.readable(kind) {
				value = 1
			}
			add(unreadableWatches, value, kind)
		}
	}}
}

const (
	// maxListedConnections is how many connections have series of their own. Tenants make connections, so there is a
	// limit.
	maxListedConnections = 100
	// otherConnectionsLabel is the label of all others together.
	otherConnectionsLabel = "other"
)

var (
	circuitBreakers = prometheus.NewDesc(
		"idv_circuit_breakers",
		"Circuit breakers of connections by state (closed, open, half-open) and by what fails (empty: nothing). A "+
			"connection is KIND/NAMESPACE/NAME, or other for those beyond the first hundred.",
		[]string{"connection", "state", "failing"}, nil)
	slotsUsed = prometheus.NewDesc("idv_connection_slots_used",
		"Slots of a connection that reconciliations use now, by kind.", []string{"connection", "kind"}, nil)
	waiting = prometheus.NewDesc("idv_connection_waiting",
		"Objects that wait for a slot of a connection now, by kind.", []string{"connection", "kind"}, nil)
	statesUnknown = prometheus.NewDesc("idv_connection_states_unknown",
		"Mandates of a connection that wait while nobody has explained the name of their application's state.",
		[]string{"connection"}, nil)
	slots = prometheus.NewDesc("idv_connection_slots",
		"Slots of each connection for one kind (--max-concurrent-reconciles).", nil, nil)
)

// connectionMetrics tell how the connections are used. If there are too many, those whose circuit is not closed come
// first: they are the ones that somebody looks for.
func connectionMetrics(connections interface{ Usage() []connection.Usage }, capacity int) computed {
	return computed{[]*prometheus.Desc{circuitBreakers, statesUnknown, slotsUsed, waiting, slots}, func(add add) {
		usage := connections.Usage()
		slices.SortFunc(usage, func(a, b connection.Usage) int {
			byState := cmp.Compare(b.State, a.State) // open, half-open, closed
			return cmp.Or(byState, cmp.Compare(a.Key.String(), b.Key.String()))
		})
		for i, u := range usage {
			name := u.Key.String()
			if i >= maxListedConnections {
				name = otherConnectionsLabel
			}
			add(circuitBreakers, 1, name, string(u.State), u.Failing.String())
			add(statesUnknown, float64(u.StatesUnknown), name)
			for kind, of := range map[string]connection.SlotUsage{kindMandate: u.Mandates, kindAction: u.Actions} {
				add(slotsUsed, float64(of.Used), name, kind)
				add(waiting, float64(of.Waiting), name, kind)
			}
		}
		add(slots, float64(capacity))
	}}
}

// expiresSoon is how long before the service deletes an application somebody should look at it.
const expiresSoon = 7 * 24 * time.Hour

const (
	// unknownFor is for how long an action with an unknown outcome is counted after its end.
	unknownFor = time.Hour
	// maxListedNamespaces is how many namespaces have series of their own. Tenants may make namespaces, so there is a
	// limit.
	maxListedNamespaces = 100
	// otherNamespacesLabel is the label of all others together. No namespace can be called so.
	otherNamespacesLabel = "_other"
	// namespaceLabel is not called namespace: Prometheus gives that label to all series of a Pod.
	namespaceLabel = "mandate_namespace"
)

var (
	mandates = prometheus.NewDesc(
		"idv_mandates",
		"Mandates by namespace, by the reason of their condition Ready and by outcome (empty: none yet).",
		[]string{namespaceLabel, "ready", "reason", "outcome"}, nil)
	expiringMandates = prometheus.NewDesc(
		"idv_mandates_expiring",
		"Mandates without an outcome whose application the service deletes within seven days, by namespace.",
		[]string{namespaceLabel}, nil)
	creationWaiting = prometheus.NewDesc(
		"idv_creation_waiting",
		"Mandates and MandateActions that wait, because spec.creation of their services allows no more e-mails now, by "+
			"namespace.",
		[]string{namespaceLabel}, nil)
	pollLag = prometheus.NewDesc(
		"idv_poll_lag_seconds",
		"Delay of the most overdue read of an application; 0 if no read is overdue.",
		nil, nil)
	openActions = prometheus.NewDesc(
		"idv_mandate_actions_open",
		"MandateActions that have not ended, by namespace, by type and by the reason of their condition Reconciling "+
			"(empty: none yet).",
		[]string{namespaceLabel, "type", "reason"}, nil)
	unknownActions = prometheus.NewDesc(
		"idv_mandate_actions_unknown",
		"MandateActions that ended within the last hour, and of which nobody knows whether the service carried them out, "+
			"by namespace.",
		[]string{namespaceLabel}, nil)
)

// objectMetrics count the Mandates and MandateActions of the cache. It is not worth an error if the cache is not there
// yet: readyz shows that.
func objectMetrics(cache client.Reader, lag func(*v1alpha1.Mandate) time.Duration) computed {
	all := []*prometheus.Desc{mandates, expiringMandates, creationWaiting, pollLag, openActions, unknownActions}
	return computed{all, func(add add) {
		ctx, cancel := context.WithTimeout(context.Background(), time.Second)
		defer cancel()
		var list v1alpha1.MandateList
		var actions v1alpha1.MandateActionList
		if cache.List(ctx, &list, client.UnsafeDisableDeepCopy) != nil ||
			cache.List(ctx, &actions, client.UnsafeDisableDeepCopy) != nil {
			return
		}
		listed := listedNamespaces(list.Items, actions.Items)
		for namespace := range listed {
			for _, metric := range []*prometheus.Desc{expiringMandates, creationWaiting, unknownActions} {
				add(metric, 0, namespace)
			}
		}
		addMandates(add, list.Items, listed, lag)
		addActions(add, actions.Items, listed)
	}}
}

// namespaces are those that have series of their own.
type namespaces map[string]bool

func (n namespaces) label(of client.Object) string {
	if n[of.GetNamespace()] {
		return of.GetNamespace()
	}
	return otherNamespacesLabel
}

// listedNamespaces are the first hundred. If there are more, those with a Mandate that is not Ready come first: they
// are the ones that somebody looks for.
func listedNamespaces(mandates []v1alpha1.Mandate, actions []v1alpha1.MandateAction) namespaces {
	notReady := map[string]int{} // by namespace: 1 if one is not
	for i := range actions {
		notReady[actions[i].Namespace] = 0
	}
	for i := range mandates {
		name := mandates[i].Namespace
		if meta.IsStatusConditionFalse(mandates[i].Status.Conditions, v1alpha1.ConditionReady) {
			notReady[name] = 1
		}
		notReady[name] = max(notReady[name], 0)
	}
	names := slices.SortedFunc(maps.Keys(notReady), func(a, b string) int {
		return cmp.Or(notReady[b]-notReady[a], cmp.Compare(a, b))
	})
	listed := namespaces{}
	for _, name := range names[:min(len(names), maxListedNamespaces)] {
		listed[name] = true
	}
	return listed
}

func addMandates(add add, all []v1alpha1.Mandate, listed namespaces, lag func(*v1alpha1.Mandate) time.Duration) {
	longest := time.Duration(0)
	for i := range all {
		status, namespace := &all[i].Status, listed.label(&all[i])
		is, reason := metav1.ConditionUnknown, ""
		if ready := meta.FindStatusCondition(status.Conditions, v1alpha1.ConditionReady); ready != nil {
			is, reason = ready.Status, ready.Reason
		}
		add(mandates, 1, namespace, string(is), reason, string(status.Outcome))
		if reason == v1alpha1.ReasonCreationBudgetReached {
			add(creationWaiting, 1, namespace)
		}
		if status.Outcome == "" && status.ExpiryTime != nil && time.Until(status.ExpiryTime.Time) < expiresSoon {
			add(expiringMandates, 1, namespace)
		}
		longest = max(longest, lag(&all[i]))
	}
	add(pollLag, longest.Seconds())
}

// addActions counts the MandateActions that have not ended, or that ended with an unknown outcome.
func addActions(add add, all []v1alpha1.MandateAction, listed namespaces) {
	for i := range all {
		status, namespace := &all[i].Status, listed.label(&all[i])
		if ended := status.CompletedTime; ended != nil {
			reason := engine.ReasonOf(status.Conditions, v1alpha1.ConditionFailed)
			if reason == v1alpha1.ReasonOutcomeUnknown && time.Since(ended.Time) < unknownFor {
				add(unknownActions, 1, namespace)
			}
			continue
		}
		reason := engine.ReasonOf(status.Conditions, v1alpha1.ConditionReconciling)
		add(openActions, 1, namespace, string(all[i].Spec.Type), reason)
		if reason == v1alpha1.ReasonCreationBudgetReached {
			add(creationWaiting, 1, namespace)
		}
	}
}
