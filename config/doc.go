// Package config tests on a real API server that the manifests in these directories do what README.md promises. It has
// tests only.
package config
