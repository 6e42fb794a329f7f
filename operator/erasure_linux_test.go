package operator_test

import (
	"bytes"
	"fmt"
	"os"
	"strconv"
	"strings"
	"testing"

	"github.com/mandate-io/idv/internal/sandbox"
	"github.com/mandate-io/idv/internal/test/testenv"
)

// After the erasure, no object in the operator's memory has the data. The runtime writes over what it frees, only for
// this test: otherwise freed memory keeps its content until something else uses it.
func TestErasedFromMemory(t *testing.T) {
	t.Parallel()
	const canary = "canary-in-memory" // another one than that of TestErasedAfterOutcome, which searches all of etcd
	w := newWorld(t, sandbox.Options{})
	w.environment = []string{"GODEBUG=clobberfree=1"}
	w.connect()
	profiles := testenv.FreeAddress(t)
	w.start("--pprof-bind-address=" + profiles)
	w.createMandate("acme",
		"{retention: {afterOutcome: Erase}, individuals: [{name: jane, email: "+canary+"@example.com}]}")
	w.ready("acme")
	if found := w.timesInMemory(canary); found == 0 {
		t.Error("the operator does not have what was not erased yet: the search proves nothing")
	}
	w.reject("acme")
	w.erased("acme")
	w.mandate("other", "{suspend: true}")
	digit := 0
	w.eventually(func() (bool, string) {
		// What comes next from the API server uses the buffers of the connection again. Idle connections end.
		digit = (digit + 1) % 10
		annotation := "example.com/note=" + strings.Repeat(strconv.Itoa(digit), 60_000)
		w.kubectl("annotate", "--overwrite", "mandate/other", annotation)
		w.fetch("http://" + profiles + "/debug/pprof/heap?gc=1")
		found := w.timesInMemory(canary)
		return found == 0, fmt.Sprintf("the operator's memory has the data %d times", found)
	})
}

// timesInMemory counts how often the operator's memory has a text.
func (w *world) timesInMemory(text string) (found int) {
	w.Helper()
	process := "/proc/" + strconv.Itoa(w.operator.PID())
	maps, err := os.ReadFile(process + "/maps")
	w.check(err)
	content, err := os.Open(process + "/mem")
	w.check(err)
	defer content.Close()
	for line := range strings.Lines(string(maps)) {
		var from, to int64
		if _, err := fmt.Sscanf(line, "%x-%x rw", &from, &to); err != nil {
			continue // it is not written to
		}
		region := make([]byte, to-from)
		n, _ := content.ReadAt(region, from) // what is not mapped any more has no data
		found += bytes.Count(region[:n], []byte(text))
	}
	return found
}
