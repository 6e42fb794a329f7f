package benchmark_test

import (
	"fmt"
	"os"
	"strconv"
	"strings"
	"testing"

	"github.com/go-logr/logr"
	"sigs.k8s.io/controller-runtime/pkg/log"
)

func TestMain(m *testing.M) {
	log.SetLogger(logr.Discard())
	if plan := os.Getenv(loopVariable); plan != "" {
		if err := runLoop(plan); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		return
	}
	code := m.Run()
	figures.print(os.Stdout)
	os.Exit(code)
}

// quick is set for sizes that show whether the benchmarks work, and what changed by half.
var quick = os.Getenv("QUICK") != ""

// numbers reads a setting such as MANDATES=1000,5000 from the environment. Where it is absent, small is for QUICK.
func numbers(b *testing.B, name, fallback, small string) []int {
	b.Helper()
	text := os.Getenv(name)
	switch {
	case text != "":
	case quick:
		text = small
	default:
		text = fallback
	}
	var list []int
	for part := range strings.SplitSeq(text, ",") {
		n, err := strconv.Atoi(strings.TrimSpace(part))
		if err != nil || n < 0 {
			b.Fatalf("invalid %s=%s: want numbers separated by commas, such as %s", name, text, fallback)
		}
		list = append(list, n)
	}
	return list
}

func number(b *testing.B, name, fallback, small string) int {
	b.Helper()
	return numbers(b, name, fallback, small)[0]
}
