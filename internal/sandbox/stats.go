package sandbox

import (
	"maps"
	"strconv"
	"sync"

	"github.com/mandate-io/idv/internal/sandbox/control"
)

// statistics counts requests, responses and logins.
type statistics struct {
	mu     sync.Mutex
	counts control.Statistics
}

func (s *statistics) request(op control.Operation) {
	s.change(op, func(counts *control.OperationStatistics) { counts.Requests++ })
}

// response counts a response; status 0 means that none was sent.
func (s *statistics) response(op control.Operation, status int) {
	key := control.Lost
	if status != 0 {
		key = strconv.Itoa(status)
	}
	s.change(op, func(counts *control.OperationStatistics) { counts.Answers[key]++ })
}

func (s *statistics) login() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.counts.Logins++
}

func (s *statistics) change(op control.Operation, change func(*control.OperationStatistics)) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.counts.Operations == nil {
		s.counts.Operations = map[control.Operation]control.OperationStatistics{}
	}
	counts := s.counts.Operations[op]
	if counts.Answers == nil {
		counts.Answers = map[string]int64{}
	}
	change(&counts)
	s.counts.Operations[op] = counts
}

func (s *statistics) get() control.Statistics {
	s.mu.Lock()
	defer s.mu.Unlock()
	copied := control.Statistics{
		Logins: s.counts.Logins, Operations: map[control.Operation]control.OperationStatistics{},
	}
	for op, counts := range s.counts.Operations {
		counts.Answers = maps.Clone(counts.Answers)
		copied.Operations[op] = counts
	}
	return copied
}

func (s *statistics) reset() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.counts = control.Statistics{}
}
