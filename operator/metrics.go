package operator

import (
	"context"
	"strconv"
	"strings"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/manager"
	"sigs.k8s.io/controller-runtime/pkg/metrics"

	"github.com/mandate-io/idv/api/v1alpha1"
	idv "github.com/mandate-io/idv/internal/client"
	"github.com/mandate-io/idv/operator/connection"
	"github.com/mandate-io/idv/operator/notification"
)

// No label names an object: their number would grow with the number of people verified, and so would what can be learnt
// about them.
var (
	requests = prometheus.NewCounterVec(prometheus.CounterOpts{
		Name: "idv_service_requests_total",
		Help: "Requests to identity verification services, by operation and status (0: no answer).",
	}, []string{"operation", "status"})
	requestSeconds = prometheus.NewHistogramVec(prometheus.HistogramOpts{
		Name:    "idv_service_request_duration_seconds",
		Help:    "Duration of requests to identity verification services, by operation.",
		Buckets: prometheus.ExponentialBuckets(0.005, 3, 8),
	}, []string{"operation"})
	creates = prometheus.NewCounterVec(prometheus.CounterOpts{
		Name: "idv_create_attempts_total",
		Help: "Requests to create an application, by outcome: created, refused, not_sent, or unknown, after which " +
			"nobody can say whether people were e-mailed.",
	}, []string{"outcome"})
	notifications = prometheus.NewCounterVec(prometheus.CounterOpts{
		Name: "idv_notification_deliveries_total",
		Help: "Deliveries of identity verification services, by result: matched, unmatched, refused, or limited.",
	}, []string{"result"})
	mandates = prometheus.NewDesc(
		"idv_mandates",
		"Mandates by the reason of their condition Ready and by outcome (empty: none yet).",
		[]string{"ready", "reason", "outcome"},
		nil,
	)
)

var circuitBreakers = prometheus.NewDesc(
	"idv_circuit_breakers",
	"Circuit breakers of connections by state (closed, open, half-open) and by what fails (empty: nothing).",
	[]string{"state", "failing"},
	nil,
)

var unrecordedAttempts = prometheus.NewDesc(
	"idv_unrecorded_attempts",
	"Requests that e-mail people, whose results the API server refuses to record, by kind. They are lost if the "+
		"operator ends.",
	[]string{"kind"},
	nil,
)

func init() {
	metrics.Registry.MustRegister(requests, requestSeconds, creates, notifications, unreadableCount)
	for _, result := range notification.Results {
		notifications.WithLabelValues(result)
	}
	for _, outcome := range []string{outcomeCreated, outcomeRefused, outcomeNotSent, outcomeUnknown} {
		creates.WithLabelValues(outcome) // a counter that begins with its first event shows no increase by it
	}
	for _, kind := range []string{"Mandate", "MandateAction", "IdentityService", "ClusterIdentityService", kindRecord} {
		unreadableCount.WithLabelValues(kind)
	}
}

// Outcomes of an attempt to create an application.
const (
	outcomeCreated = "created"
	outcomeRefused = "refused"
	outcomeNotSent = "not_sent"
	outcomeUnknown = "unknown"
)

func observeRequest(r idv.RequestResult) {
	operation := strings.ReplaceAll(string(r.Operation), " ", "_")
	requests.WithLabelValues(operation, strconv.Itoa(r.Status)).Inc()
	requestSeconds.WithLabelValues(operation).Observe(r.Duration.Seconds())
	if r.Operation == idv.OpCreateApplication {
		creates.WithLabelValues(createOutcome(r)).Inc()
	}
}

func createOutcome(r idv.RequestResult) string {
	switch {
	case !r.Failed:
		return outcomeCreated
	case r.Outcome == idv.NotSent:
		return outcomeNotSent
	case r.Outcome == idv.Refused:
		return outcomeRefused
	default:
		return outcomeUnknown
	}
}

// leaderMetrics has something counted until ctx ends. The manager starts it with the controllers, where this replica
// leads: all replicas have the cache, and a sum over them would count each Mandate as often as there are replicas.
func leaderMetrics(counter prometheus.Collector) manager.RunnableFunc {
	return func(ctx context.Context) error {
		if err := metrics.Registry.Register(counter); err != nil {
			return err
		}
		<-ctx.Done()
		metrics.Registry.Unregister(counter)
		return nil
	}
}

// breakerCounter counts the circuit breakers whenever it is asked.
type breakerCounter struct{ connections *connection.Registry }

// Describe describes the one metric there is.
func (breakerCounter) Describe(descriptions chan<- *prometheus.Desc) { descriptions <- circuitBreakers }

// Collect counts.
func (c breakerCounter) Collect(metrics chan<- prometheus.Metric) {
	for state, classes := range c.connections.CountBreakers() {
		for class, n := range classes {
			metrics <- prometheus.MustNewConstMetric(
				circuitBreakers, prometheus.GaugeValue, float64(n), string(state), class.String())
		}
	}
}

// attemptCounter counts the attempts of each kind that are not recorded, whenever it is asked.
type attemptCounter map[string]interface{ Unrecorded() int }

// Describe describes the one metric there is.
func (attemptCounter) Describe(descriptions chan<- *prometheus.Desc) {
	descriptions <- unrecordedAttempts
}

// Collect counts.
func (c attemptCounter) Collect(metrics chan<- prometheus.Metric) {
	for kind, attempts := range c {
		metrics <- prometheus.MustNewConstMetric(
			unrecordedAttempts, prometheus.GaugeValue, float64(attempts.Unrecorded()), kind)
	}
}

// mandateCounter counts the Mandates of the cache whenever it is asked.
type mandateCounter struct{ cache client.Reader }

// Describe describes the one metric there is.
func (mandateCounter) Describe(descriptions chan<- *prometheus.Desc) { descriptions <- mandates }

// Collect counts. It is not worth an error if the cache is not there yet: readyz shows that.
func (m mandateCounter) Collect(metrics chan<- prometheus.Metric) {
	var list v1alpha1.MandateList
	ctx, cancel := context.WithTimeout(context.Background(), time.Second)
	defer cancel()
	if err := m.cache.List(ctx, &list, client.UnsafeDisableDeepCopy); err != nil {
		return
	}
	counts := map[[3]string]int{}
	for i := range list.Items {
		status := &list.Items[i].Status
		key := [3]string{string(metav1.ConditionUnknown), "", string(status.Outcome)}
		if ready := meta.FindStatusCondition(status.Conditions, v1alpha1.ConditionReady); ready != nil {
			key[0], key[1] = string(ready.Status), ready.Reason
		}
		counts[key]++
	}
	for key, n := range counts {
		metrics <- prometheus.MustNewConstMetric(mandates, prometheus.GaugeValue, float64(n), key[:]...)
	}
}
