// Package reference makes the default references of applications and individuals. The operator and
// the provider share it, so that a Terraform configuration can name the reference of a Mandate.
package reference

import (
	"crypto/sha256"
	"encoding/base32"
	"strings"
	"unicode/utf8"
)

// MaxLength of an application's reference in Unicode code points (interface: Limits).
const MaxLength = 150

// Mandate is the default reference of a Mandate: prefix, namespace, a dot and name. It is made from names that survive
// re-creation, never from a UID: a Mandate that is applied again must meet its application again.
func Mandate(prefix, namespace, name string) string {
	return shorten(prefix + namespace + "." + name)
}

// InNamespace reports whether a reference begins as the default references of a namespace do. No reference is in two
// namespaces, because a namespace has no dot in its name. With another prefix, it can be.
func InNamespace(reference, prefix, namespace string) bool {
	return strings.HasPrefix(reference, prefix+namespace+".")
}

// Individual is the default reference of an individual: the Mandate's reference, a dot and the individual's name.
func Individual(mandateReference, name string) string {
	return shorten(mandateReference + "." + name)
}

// shorten replaces the end of what is too long by a hash of the whole.
func shorten(reference string) string {
	if utf8.RuneCountInString(reference) <= MaxLength {
		return reference
	}
	sum := sha256.Sum256([]byte(reference))
	hash := strings.ToLower(base32.StdEncoding.WithPadding(base32.NoPadding).EncodeToString(sum[:10]))
	return string([]rune(reference)[:MaxLength-len(hash)-1]) + "-" + hash
}
