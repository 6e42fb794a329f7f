// Package config holds the manifests in these directories to what README.md promises, on a real API server. It has tests
// only.
package config
