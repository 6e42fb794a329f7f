package connection

// shares counts who uses a number of slots, and who may use one more.
//
// The reads, and the writes, of a namespace may use one more slot while free slots outnumber those that they use, times
// weight. So the more somebody uses, the more stays free for others, without slots that are set aside for each: these
// are the dynamic thresholds of Choudhury and Hahne, by which network switches share a buffer. A flow that uses
// none gets one if any is free.
type shares struct {
	capacity int // 0: unlimited
	weight   int // 0: a namespace may use all slots
	writes   int // slots that reads do not take: reads may be slow while creates are not

	used, reads int
	flows       map[flow]int
}

// flow is whose slots are counted together.
type flow struct {
	namespace string
	class     Class
}

func (w *waiter) flow() flow { return flow{w.object.Namespace, w.class} }

// admits reports whether a waiter may use one more slot.
func (s *shares) admits(w *waiter) bool {
	free := s.capacity - s.used
	if w.class != Write {
		free = min(free, s.capacity-s.writes-s.reads)
	}
	switch used := s.flows[w.flow()]; {
	case s.capacity == 0:
		return true
	case free <= 0:
		return false
	default:
		return used == 0 || s.weight*used < free
	}
}

func (s *shares) full() bool { return s.capacity > 0 && s.used >= s.capacity }

// count changes how many slots are used for what a waiter waits for.
func (s *shares) count(w *waiter, slots int) {
	s.used += slots
	if w.class != Write {
		s.reads += slots
	}
	if s.flows == nil {
		s.flows = map[flow]int{}
	}
	s.flows[w.flow()] += slots
	if s.flows[w.flow()] == 0 {
		delete(s.flows, w.flow())
	}
}
