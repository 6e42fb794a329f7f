// Package benchmark compares the operator with a bare loop that makes the same requests. See docs/benchmarks.md.
package benchmark
