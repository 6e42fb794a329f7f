package operator

import "github.com/prometheus/client_golang/prometheus"

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

// attemptCounter counts the attempts of each kind that are not recorded, whenever it is asked.
type attemptCounter map[string]interface {
	Unrecorded() int
	FailedRecords() int
}

// Describe describes its metrics.
func (attemptCounter) Describe(descriptions chan<- *prometheus.Desc) {
	descriptions <- unrecordedAttempts
	descriptions <- recordFailures
}

// Collect counts.
func (c attemptCounter) Collect(metrics chan<- prometheus.Metric) {
	for kind, attempts := range c {
		metrics <- prometheus.MustNewConstMetric(
			unrecordedAttempts, prometheus.GaugeValue, float64(attempts.Unrecorded()), kind)
		metrics <- prometheus.MustNewConstMetric(
			recordFailures, prometheus.CounterValue, float64(attempts.FailedRecords()), kind)
	}
}
