// Package architecture holds the tree to its own rules: which package may import which, how long a file may be, that
// every package says what it is for, and that nothing depends on one person's machine. It has tests only.
package architecture
