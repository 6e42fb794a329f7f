package operator

import (
	"cmp"
	"context"
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
	compute func(show)
}

// show sends the value of one metric.
type show func(metric *prometheus.Desc, value float64, labels ...string)

// Describe implements prometheus.Collector.
func (c computed) Describe(descriptions chan<- *prometheus.Desc) {
	for _, metric := range c.metrics {
		descriptions <- metric
	}
}

// Collect implements prometheus.Collector.
func (c computed) Collect(values chan<- prometheus.Metric) {
	c.compute(func(metric *prometheus.Desc, value float64, labels ...string) {
		kind := prometheus.GaugeValue
		if metric == recordFailures {
			kind = prometheus.CounterValue
		}
		values <- prometheus.MustNewConstMetric(metric, kind, value, labels...)
	})
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
	return computed{[]*prometheus.Desc{unrecordedAttempts, recordFailures}, func(show show) {
		for kind, attempts := range kinds {
			show(unrecordedAttempts, float64(attempts.Unrecorded()), kind)
			show(recordFailures, float64(attempts.FailedRecords()), kind)
		}
	}}
}

var unreadableWatches = prometheus.NewDesc("idv_unreadable_watches",
	"1 if the watch of a kind has not been readable for a minute, else 0.", []string{"kind"}, nil)

// watchMetrics tell which watches cannot be read.
func watchMetrics(watched *watches) computed {
	return computed{[]*prometheus.Desc{unreadableWatches}, func(show show) {
		for _, kind := range watchedKinds {
			value := 0.0
			if !watched.readable(kind) {
				value = 1
			}
			show(unreadableWatches, value, kind)
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
	slots = prometheus.NewDesc("idv_connection_slots",
		"Slots of each connection for one kind (--max-concurrent-reconciles).", nil, nil)
)

// connectionMetrics tell how the connections are used.
func connectionMetrics(connections *connection.Registry) computed {
	return computed{[]*prometheus.Desc{circuitBreakers, slotsUsed, waiting, slots}, func(show show) {
		breakers, usage := summarize(connections.Usage())
		for labels, n := range breakers {
			show(circuitBreakers, float64(n), labels[:]...)
		}
		for labels, u := range usage {
			show(slotsUsed, float64(u.Used), labels[:]...)
			show(waiting, float64(u.Waiting), labels[:]...)
		}
		show(slots, float64(connections.Mandates.Capacity()))
	}}
}

// summarize counts circuit breakers and slots by labels. If there are too many connections, those whose circuit is not
// closed come first: they are the ones that somebody looks for.
func summarize(usage []connection.Usage) (map[[3]string]int, map[[2]string]connection.SlotUsage) {
	slices.SortFunc(usage, func(a, b connection.Usage) int {
		if failing := a.State != connection.Closed; failing != (b.State != connection.Closed) {
			if failing {
				return -1
			}
			return 1
		}
		return cmp.Compare(a.Key.String(), b.Key.String())
	})
	breakers, slots := map[[3]string]int{}, map[[2]string]connection.SlotUsage{}
	for i, u := range usage {
		name := u.Key.String()
		if i >= maxListedConnections {
			name = otherConnectionsLabel
		}
		breakers[[3]string{name, string(u.State), u.Failing.String()}]++
		for kind, of := range map[string]connection.SlotUsage{kindMandate: u.Mandates, kindAction: u.Actions} {
			sum := slots[[2]string{name, kind}]
			slots[[2]string{name, kind}] = connection.SlotUsage{Used: sum.Used + of.Used, Waiting: sum.Waiting + of.Waiting}
		}
	}
	return breakers, slots
}

// expiresSoon is how long before the service deletes an application somebody should look at it.
const expiresSoon = 7 * 24 * time.Hour

var (
	mandates = prometheus.NewDesc(
		"idv_mandates",
		"Mandates by the reason of their condition Ready and by outcome (empty: none yet).",
		[]string{"ready", "reason", "outcome"}, nil)
	expiringMandates = prometheus.NewDesc(
		"idv_mandates_expiring",
		"Mandates without an outcome whose application the service deletes within seven days.", nil, nil)
	pollLag = prometheus.NewDesc(
		"idv_poll_lag_seconds",
		"Delay of the most overdue read of an application; 0 if no read is overdue.",
		nil, nil)
	openActions = prometheus.NewDesc(
		"idv_mandate_actions_open",
		"MandateActions that have not ended, by type and by the reason of their condition Reconciling (empty: none yet).",
		[]string{"type", "reason"}, nil)
)

// objectMetrics count the Mandates and MandateActions of the cache. It is not worth an error if the cache is not there
// yet: readyz shows that.
func objectMetrics(cache client.Reader, lag func(*v1alpha1.Mandate) time.Duration) computed {
	return computed{[]*prometheus.Desc{mandates, expiringMandates, pollLag, openActions}, func(show show) {
		ctx, cancel := context.WithTimeout(context.Background(), time.Second)
		defer cancel()
		var list v1alpha1.MandateList
		if err := cache.List(ctx, &list, client.UnsafeDisableDeepCopy); err == nil {
			showMandates(show, list.Items, lag)
		}
		var actions v1alpha1.MandateActionList
		if err := cache.List(ctx, &actions, client.UnsafeDisableDeepCopy); err == nil {
			showOpen(show, actions.Items)
		}
	}}
}

func showMandates(show show, all []v1alpha1.Mandate, lag func(*v1alpha1.Mandate) time.Duration) {
	states := map[[3]string]int{} // by the labels of idv_mandates
	expiring, longest := 0, time.Duration(0)
	for i := range all {
		status := &all[i].Status
		key := [3]string{string(metav1.ConditionUnknown), "", string(status.Outcome)}
		if ready := meta.FindStatusCondition(status.Conditions, v1alpha1.ConditionReady); ready != nil {
			key[0], key[1] = string(ready.Status), ready.Reason
		}
		states[key]++
		if status.Outcome == "" && status.ExpiryTime != nil && time.Until(status.ExpiryTime.Time) < expiresSoon {
			expiring++
		}
		longest = max(longest, lag(&all[i]))
	}
	for labels, n := range states {
		show(mandates, float64(n), labels[:]...)
	}
	show(expiringMandates, float64(expiring))
	show(pollLag, longest.Seconds())
}

// showOpen counts the MandateActions that have not ended.
func showOpen(show show, all []v1alpha1.MandateAction) {
	counts := map[[2]string]int{} // by the labels of idv_mandate_actions_open
	for i := range all {
		spec, status := &all[i].Spec, &all[i].Status
		if status.CompletedTime != nil {
			continue
		}
		counts[[2]string{string(spec.Type), engine.ReasonOf(status.Conditions, v1alpha1.ConditionReconciling)}]++
	}
	for labels, n := range counts {
		show(openActions, float64(n), labels[:]...)
	}
}
