package reference

import "regexp"

// The limits of Kubernetes for names, and of IdentityService for its prefix. No Mandate has a reference beyond them.
const (
	MaxNamespace = 63
	MaxName      = 253
	MaxPrefix    = 50
)

var (
	namespacePattern = regexp.MustCompile(`^[a-z0-9]([-a-z0-9]*[a-z0-9])?$`)
	namePattern      = regexp.MustCompile(`^[a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*$`)
)

// IsNamespace reports whether Kubernetes accepts the name of a namespace.
func IsNamespace(name string) bool {
	return len(name) <= MaxNamespace && namespacePattern.MatchString(name)
}

// IsName reports whether Kubernetes accepts the name of an object whose name is a DNS subdomain, such as a Mandate.
func IsName(name string) bool {
	return len(name) <= MaxName && namePattern.MatchString(name)
}
