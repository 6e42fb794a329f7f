package operator

import (
	"strconv"

	"github.com/prometheus/client_golang/prometheus"
	"sigs.k8s.io/controller-runtime/pkg/metrics"

	idv "github.com/mandate-io/idv/internal/client"
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
)

func init() {
	metrics.Registry.MustRegister(requests, requestSeconds)
}

func observeRequest(r idv.Request) {
	requests.WithLabelValues(string(r.Operation), strconv.Itoa(r.Status)).Inc()
	requestSeconds.WithLabelValues(string(r.Operation)).Observe(r.Duration.Seconds())
}
