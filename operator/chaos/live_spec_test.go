package chaos_test

import (
	"net/http"
	"slices"
	"time"

	"github.com/mandate-io/idv/internal/test/testenv/faultproxy"
)

// againstLiveSpec is an irreversible request that the spec does not ask for, or that nobody has read the spec for.
const againstLiveSpec = "AGAINST THE LIVE SPEC"

// permission is what the spec of a Mandate asks for, from a time on.
type permission struct {
	mandate  string
	from     time.Duration
	requests []string
}

// liveRead is a read of one Mandate at the API server.
type liveRead struct {
	mandate string
	epoch   int
	at      time.Duration
}

// edit changes the spec of a Mandate to one that asks for these requests. Until the API server has answered, what it
// asked for before counts too.
func (s *scenario) edit(mandate string, requests []string, change func() error) error {
	s.permit(mandate, append(s.permitted(mandate), requests...))
	err := change()
	s.permit(mandate, requests)
	return err
}

func (s *scenario) permit(mandate string, requests []string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.permissions = append(s.permissions, permission{mandate, time.Since(s.fleet.started), requests})
}

func (s *scenario) permitted(mandate string) []string {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, p := range slices.Backward(s.permissions) {
		if p.mandate == mandate {
			return slices.Clone(p.requests)
		}
	}
	return nil
}

// recordLiveRead records a read of a Mandate. The caller holds mu.
func (s *scenario) recordLiveRead(r faultproxy.Request) {
	match := apiPath.FindStringSubmatch(r.Path)
	if r.Method == http.MethodGet && match != nil && match[1] == "mandates" && match[2] != "" {
		s.liveReads = append(s.liveReads, liveRead{match[2], r.Epoch, time.Since(s.fleet.started)})
	}
}

// isAgainstSpec reports whether a request follows no spec that its operator can have read before it: the one at the
// time of its last live read, or a later one. A read serves one request, not the next one. The caller holds mu.
func (s *scenario) isAgainstSpec(o *occurrence) bool {
	read := s.lastRead(o)
	if read < 0 {
		return true
	}
	until := o.at
	for _, p := range slices.Backward(s.permissions) {
		if p.mandate != o.effect.about || p.from > o.at {
			continue
		}
		if until >= read && slices.Contains(p.requests, o.effect.what) {
			return false
		}
		until = p.from
	}
	return true
}

// lastRead is when the operator has read the Mandate last, since its request before, -1 if it has not. The caller holds
// mu.
func (s *scenario) lastRead(o *occurrence) time.Duration {
	since, last := time.Duration(0), time.Duration(-1)
	for _, before := range s.occurred {
		what := before.effect.what
		acts := what == createRequest || actingRequests[what] != "" && requestsOfActions[what] == ""
		same := before.epoch == o.epoch && before.effect.about == o.effect.about
		if same && acts && what != o.effect.what && before.at < o.at {
			since = max(since, before.at)
		}
	}
	for _, read := range s.liveReads {
		if read.mandate == o.effect.about && read.epoch == o.epoch && read.at >= since && read.at <= o.at {
			last = max(last, read.at)
		}
	}
	return last
}
