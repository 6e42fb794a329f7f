package operator

import (
	"context"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/mandate-io/idv/api/v1alpha1"
)

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

// objectCounter counts the Mandates and MandateActions of the cache whenever it is asked.
type objectCounter struct {
	cache client.Reader
	lag   func(*v1alpha1.Mandate) time.Duration
}

// Describe describes its metrics.
func (objectCounter) Describe(descriptions chan<- *prometheus.Desc) {
	for _, description := range []*prometheus.Desc{mandates, expiringMandates, pollLag, openActions} {
		descriptions <- description
	}
}

// Collect counts. It is not worth an error if the cache is not there yet: readyz shows that.
func (o objectCounter) Collect(metrics chan<- prometheus.Metric) {
	ctx, cancel := context.WithTimeout(context.Background(), time.Second)
	defer cancel()
	gauge := func(desc *prometheus.Desc, value float64, labels ...string) {
		metrics <- prometheus.MustNewConstMetric(desc, prometheus.GaugeValue, value, labels...)
	}
	var list v1alpha1.MandateList
	if err := o.cache.List(ctx, &list, client.UnsafeDisableDeepCopy); err == nil {
		count := o.countMandates(list.Items, time.Now())
		for labels, n := range count.states {
			gauge(mandates, float64(n), labels[:]...)
		}
		gauge(expiringMandates, float64(count.expiring))
		gauge(pollLag, count.lag.Seconds())
	}
	var actions v1alpha1.MandateActionList
	if err := o.cache.List(ctx, &actions, client.UnsafeDisableDeepCopy); err == nil {
		for labels, n := range countOpen(actions.Items) {
			gauge(openActions, float64(n), labels[:]...)
		}
	}
}

// mandateCount is what the metrics say of all Mandates.
type mandateCount struct {
	states   map[[3]string]int // by the labels of idv_mandates
	expiring int
	lag      time.Duration
}

func (o objectCounter) countMandates(mandates []v1alpha1.Mandate, now time.Time) mandateCount {
	count := mandateCount{states: map[[3]string]int{}}
	for i := range mandates {
		status := &mandates[i].Status
		key := [3]string{string(metav1.ConditionUnknown), "", string(status.Outcome)}
		if ready := meta.FindStatusCondition(status.Conditions, v1alpha1.ConditionReady); ready != nil {
			key[0], key[1] = string(ready.Status), ready.Reason
		}
		count.states[key]++
		if status.Outcome == "" && status.ExpiryTime != nil && status.ExpiryTime.Sub(now) < expiresSoon {
			count.expiring++
		}
		count.lag = max(count.lag, o.lag(&mandates[i]))
	}
	return count
}

// countOpen counts the MandateActions that have not ended, by the labels of idv_mandate_actions_open.
func countOpen(actions []v1alpha1.MandateAction) map[[2]string]int {
	counts := map[[2]string]int{}
	for i := range actions {
		spec, status := &actions[i].Spec, &actions[i].Status
		if status.CompletedTime != nil {
			continue
		}
		key := [2]string{string(spec.Type), ""}
		if waits := meta.FindStatusCondition(status.Conditions, v1alpha1.ConditionReconciling); waits != nil {
			key[1] = waits.Reason
		}
		counts[key]++
	}
	return counts
}
