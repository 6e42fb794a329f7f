package benchmark_test

import (
	"os"
	"strconv"
	"strings"
	"testing"
	"time"
)

// patience is far more than anything here takes.
const patience = 15 * time.Minute

// numbers are a setting from the environment: MANDATES=1000,5000.
func numbers(b *testing.B, name, fallback string) []int {
	b.Helper()
	text := os.Getenv(name)
	if text == "" {
		text = fallback
	}
	var list []int
	for part := range strings.SplitSeq(text, ",") {
		n, err := strconv.Atoi(strings.TrimSpace(part))
		if err != nil || n < 0 {
			b.Fatalf("%s=%s: it must be numbers, separated by commas, such as %s", name, text, fallback)
		}
		list = append(list, n)
	}
	return list
}

func number(b *testing.B, name, fallback string) int {
	b.Helper()
	return numbers(b, name, fallback)[0]
}
