package chaos_test

import (
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/mandate-io/idv/internal/test/testenv"
)

// A fault makes the operator retry, but not without end (I8), and leaks nothing in its process (I12). The limits are
// about twice the maximum of a few hundred runs.
const (
	faultFreeRequests = 60 // of a namespace without faults, polls apart
	requestsPerFault  = 40 // and per kill of the operator
	requestsPerSecond = 1  // a busy machine takes longer, and its attempts that are too late begin again
	pollsPerSecond    = 10 // one for each of five Mandates, and more after a kill
	maxGoroutines     = 1500
	maxResidentMiB    = 200
	raceMemory        = 3 // how many times as much the race detector takes
)

// excessRequests reports more requests than the faults explain.
func (s *scenario) excessRequests() []string {
	occurrences := s.occurrences()
	faults, polls := s.fleet.current(), 0
	for _, o := range occurrences {
		if o.effect.what == poll {
			polls++
		}
		if o.fault != "" {
			faults++
		}
	}
	var found []string
	took := occurrences[len(occurrences)-1].at - occurrences[0].at
	seconds := int(took/time.Second + 1)
	limit := faultFreeRequests + requestsPerFault*faults + requestsPerSecond*seconds
	if requests := len(occurrences) - polls; requests > limit {
		found = append(found, fmt.Sprintf("%d requests other than polls in %s after %d faults and kills, want at most %d",
			requests, took, faults, limit))
	}
	if limit := pollsPerSecond * seconds; polls > limit {
		found = append(found, fmt.Sprintf("%d polls in %s, want at most %d", polls, took, limit))
	}
	return found
}

// checkResources reports an operator that has grown beyond its limits.
func checkResources(metrics []byte) error {
	limits := map[string]float64{"go_goroutines": maxGoroutines, "process_resident_memory_bytes": maxResidentMiB << 20}
	if testenv.RaceDetector() {
		limits["process_resident_memory_bytes"] *= raceMemory
	}
	for line := range strings.Lines(string(metrics)) {
		name, text, _ := strings.Cut(strings.TrimSpace(line), " ")
		limit, ok := limits[name]
		if !ok {
			continue
		}
		delete(limits, name)
		if value, err := strconv.ParseFloat(text, 64); err != nil || value > limit {
			return fmt.Errorf("%s is %s, want at most %.0f", name, text, limit)
		}
	}
	if len(limits) > 0 {
		return fmt.Errorf("the metrics are missing: %v", limits)
	}
	return nil
}
