// Package benchmark measures the operator beside a bare loop that makes the same calls, as docs/benchmarks.md says. It has
// benchmarks only.
package benchmark
