// Package threats holds docs/threat-model.md to its word: it switches off every control, and a test of its row must
// notice. It has tests only.
package threats
