package operator

import (
	"cmp"
	"slices"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/mandate-io/idv/operator/connection"
)

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

// connectionCollector tells how the connections are used, whenever it is asked.
type connectionCollector struct{ connections *connection.Registry }

// Describe describes its metrics.
func (connectionCollector) Describe(descriptions chan<- *prometheus.Desc) {
	descriptions <- circuitBreakers
	descriptions <- slotsUsed
	descriptions <- waiting
	descriptions <- slots
}

// Collect sends them.
func (c connectionCollector) Collect(metrics chan<- prometheus.Metric) {
	gauge := func(desc *prometheus.Desc, value int, labels ...string) {
		metrics <- prometheus.MustNewConstMetric(desc, prometheus.GaugeValue, float64(value), labels...)
	}
	breakers, usage := summarize(c.connections.Usage())
	for labels, n := range breakers {
		gauge(circuitBreakers, n, labels[:]...)
	}
	for labels, u := range usage {
		gauge(slotsUsed, u.Used, labels[:]...)
		gauge(waiting, u.Waiting, labels[:]...)
	}
	gauge(slots, c.connections.Mandates.Capacity())
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
