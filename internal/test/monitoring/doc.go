// Package monitoring evaluates the alerts and the dashboard of config/monitoring with the engine of Prometheus, and
// decodes the manifests as the Prometheus operator does. It is a Go module of its own, so that no other module depends
// on either.
package monitoring
