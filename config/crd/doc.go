// Package crd holds the CustomResourceDefinitions, for programs that need them without a cluster.
package crd

import "embed"

// Bases has the definitions as controller-gen makes them, one a file, in the directory bases.
//
//go:embed bases/*.yaml
var Bases embed.FS

// Dir is the directory of the definitions in Bases.
const Dir = "bases"
