package operator

import (
	"cmp"
	"runtime"
	"strconv"
	"strings"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/promauto"
	"sigs.k8s.io/controller-runtime/pkg/metrics"

	"github.com/mandate-io/idv/api/v1alpha1"
	idv "github.com/mandate-io/idv/internal/client"
	"github.com/mandate-io/idv/operator/connection"
	"github.com/mandate-io/idv/operator/mandate"
	"github.com/mandate-io/idv/operator/notification"
)

// metric makes metrics that are registered.
var metric = promauto.With(metrics.Registry)

// No label names a Mandate or a person: their number would grow with the number of people verified, and so would what
// can be learnt about them. Those that name a namespace or a connection are computed, and bounded.
var (
	requests = metric.NewCounterVec(prometheus.CounterOpts{
		Name: "idv_service_requests_total",
		Help: "Requests to identity verification services, by operation and status (0: no answer).",
	}, []string{"operation", "status"})
	requestSeconds = metric.NewHistogramVec(prometheus.HistogramOpts{
		Name:    "idv_service_request_duration_seconds",
		Help:    "Duration of requests to identity verification services, by operation.",
		Buckets: prometheus.ExponentialBuckets(0.005, 3, 8),
	}, []string{"operation"})
	creates = counter("idv_create_attempts_total",
		"Requests to create an application, by outcome: created, refused, not_sent, or unknown. After unknown, people may "+
			"or may not have been e-mailed.",
		"outcome", outcomeCreated, outcomeRefused, outcomeNotSent, outcomeUnknown)
	notifications = counter("idv_notification_deliveries_total",
		"Deliveries of identity verification services, by result: matched, unmatched, refused, or limited.",
		"result", notification.Results...)
	recoveredAnswers = counter("idv_lost_answers_recovered_total",
		"Creates without a clear answer whose application was found, by what found it: repeat of the same reference, "+
			"notification, or adoption by a person.",
		"by", mandate.RecoveredByRepeat, mandate.RecoveredByNotification, mandate.RecoveredByAdoption)
	endedActions = metric.NewCounterVec(prometheus.CounterOpts{
		Name: "idv_mandate_actions_total",
		Help: "MandateActions that ended, by type, result (complete, failed) and reason.",
	}, []string{"type", "result", "reason"})
	slotWait = metric.NewHistogramVec(prometheus.HistogramOpts{
		Name: "idv_connection_wait_duration_seconds",
		Help: "Time that objects waited for a slot of their connection, by kind and by purpose: reads, writes, " +
			"recovery of a lost answer, or subscriptions.",
		Buckets: prometheus.ExponentialBuckets(0.01, 5, 8),
	}, []string{"kind", "class"})
	journeySeconds = metric.NewHistogramVec(prometheus.HistogramOpts{
		Name: "idv_journey_duration_seconds",
		Help: "Time that people waited, by journey: from a Mandate to Ready, from a notification to the status, and from a " +
			"decision in review to its outcome.",
		Buckets: []float64{0.5, 1, 2, 5, 15, 60, 300, 1800, 7200, 43200, 259200},
	}, []string{"journey"})
	buildInfo = metric.NewGaugeVec(prometheus.GaugeOpts{
		Name: "idv_build_info",
		Help: "1, with the versions of the operator and of Go as labels.",
	}, []string{"version", "goversion"})
)

// counter counts by the values of a label. It has all of them from the start: a counter that begins with its first
// event shows no increase by it.
func counter[T ~string](name, help, label string, values ...T) *prometheus.CounterVec {
	counted := metric.NewCounterVec(prometheus.CounterOpts{Name: name, Help: help}, []string{label})
	for _, value := range values {
		counted.WithLabelValues(string(value))
	}
	return counted
}

func init() {
	for _, sent := range []v1alpha1.MandateActionType{
		v1alpha1.MandateActionResendInvite, v1alpha1.MandateActionResetIndividual,
	} {
		endedActions.WithLabelValues(string(sent), "failed", v1alpha1.ReasonOutcomeUnknown)
	}
	for _, journey := range mandate.Journeys {
		journeySeconds.WithLabelValues(string(journey))
	}
	for _, kind := range kinds {
		unreadableCount.WithLabelValues(kind)
	}
}

func setBuildInfo(version string) { buildInfo.WithLabelValues(version, runtime.Version()).Set(1) }

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
		creates.WithLabelValues(createOutcome(idv.OutcomeOf(r.Err))).Inc()
	}
}

func observeRecovery(by mandate.RecoveredBy) { recoveredAnswers.WithLabelValues(string(by)).Inc() }

func observeJourney(journey mandate.Journey, took time.Duration) {
	journeySeconds.WithLabelValues(string(journey)).Observe(took.Seconds())
}

func observeAction(actionType v1alpha1.MandateActionType, complete bool, reason string) {
	result := "failed"
	if complete {
		result = "complete"
	}
	endedActions.WithLabelValues(string(actionType), result, reason).Inc()
}

// observeWaits observes how long objects of a kind wait for a slot.
func observeWaits(kind string, limiters *connection.Limiters) {
	limiters.Acquired = func(class connection.Class, waited time.Duration) {
		slotWait.WithLabelValues(kind, class.String()).Observe(waited.Seconds())
	}
}

func createOutcome(outcome idv.Outcome) string {
	return cmp.Or(map[idv.Outcome]string{
		idv.Done: outcomeCreated, idv.NotSent: outcomeNotSent, idv.Refused: outcomeRefused, idv.Forbidden: outcomeRefused,
	}[outcome], outcomeUnknown)
}
