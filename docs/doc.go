// Package docs holds the pages that a program shows.
package docs

import _ "embed"

// Conditions is conditions.md: the meaning of every reason of a condition, and what to do.
//
//go:embed conditions.md
var Conditions string
