// Package monitoring evaluates the alerts and the dashboard of config/monitoring with the engine of Prometheus. It is a
// Go module of its own, so that no other module depends on Prometheus.
package monitoring
