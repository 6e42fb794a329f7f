package chaos_test

import (
	"fmt"
	"strconv"
	"strings"
	"time"
)

// What goes wrong makes the operator ask again, but not again and again (I8), and leaves nothing behind in it (I12). The
// bounds are about twice what was seen in a few hundred runs.
const (
	calmRequests = 40 // of a namespace with nothing wrong in it, but for polls
	moreRequests = 40 // for each fault, and each kill of the operator
	morePolls    = 8  // a second: four Mandates, each a second, and again after a kill
	goroutines   = 1500
	residentMiB  = 200
)

// excess tells of more requests than what went wrong can explain.
func (l *life) excess() []string {
	happened, troubles, polls := l.happened(), l.crew.current(), 0
	for _, h := range happened {
		if h.effect.what == poll {
			polls++
		}
		if h.fault != "" {
			troubles++
		}
	}
	var found []string
	if requests, most := len(happened)-polls, calmRequests+moreRequests*troubles; requests > most {
		found = append(found, fmt.Sprintf("%d requests other than polls after %d faults and kills, %d would be enough", requests, troubles, most))
	}
	if took := happened[len(happened)-1].at - happened[0].at; polls > morePolls*int(took/time.Second+1) {
		found = append(found, fmt.Sprintf("%d polls in %s", polls, took))
	}
	return found
}

// bounded tells of an operator that its lives have left with more than it began with.
func bounded(metrics []byte) error {
	limits := map[string]float64{"go_goroutines": goroutines, "process_resident_memory_bytes": residentMiB << 20}
	for line := range strings.Lines(string(metrics)) {
		name, text, _ := strings.Cut(strings.TrimSpace(line), " ")
		most, ok := limits[name]
		if !ok {
			continue
		}
		delete(limits, name)
		if value, err := strconv.ParseFloat(text, 64); err != nil || value > most {
			return fmt.Errorf("%s is %s, and should be %.0f at most", name, text, most)
		}
	}
	if len(limits) > 0 {
		return fmt.Errorf("the metrics lack some of %v", limits)
	}
	return nil
}
