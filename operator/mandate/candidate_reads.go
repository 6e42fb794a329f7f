package mandate

import (
	"slices"
	"time"

	"github.com/mandate-io/idv/operator/engine"
)

const (
	// candidateRetryInterval is when an application that a notification names, and that could not be read, is read again.
	candidateRetryInterval = 5 * time.Second
	// maxCandidatePause is the longest pause between two reads of an application, however many were in vain.
	maxCandidatePause = time.Hour
	// maxCandidateReads is how many reads are counted: the pause is the longest one by then.
	maxCandidateReads = 12
	// candidateReadsBeforeCreate is how often an application has to fail to be read until nothing waits for it any more.
	candidateReadsBeforeCreate = 2
)

// candidateReads is what this process knows of the applications that an annotation names.
type candidateReads struct {
	by         connectionVersion // what follows is about the ids there
	generation int64             // of the Mandate: after an edit, an application may be as its spec asks for
	reads      []candidateRead
}

// candidateRead is the last read of an application that an annotation names.
type candidateRead struct {
	id     int64
	at     time.Time
	result candidateResult
	// request is the one with which it was read. Another one may name what did not exist before.
	request string
	// again: it is read once more with that request, because a read may lag behind the create, or has failed.
	again bool
	// tries are the reads, but for those that came at once with another request. Each doubles the pause to the next.
	tries int
}

type candidateResult int

const (
	candidateOther      candidateResult = iota // it is another Mandate's or person's, and stays so
	candidateRefused                           // there is none, or none that these credentials may read
	candidateUnread                            // the service failed to answer, for this id or for all
	candidateIncomplete                        // it shows no reference yet, or not yet what the spec asks for
)

// resultWithReference is that of an application that does not show the Mandate's reference.
func resultWithReference(shown string) candidateResult {
	if shown == "" {
		return candidateIncomplete
	}
	return candidateOther
}

// candidatesReadBy gives what is known of the candidates at one connection, for one generation of the Mandate.
func (s *localState) candidatesReadBy(by connectionVersion, generation int64) candidateReads {
	known := s.candidateReads
	if known == nil || known.by != by || known.generation != generation {
		return candidateReads{by: by, generation: generation}
	}
	return *known
}

// of gives the last read of an application; nil if there was none.
func (c candidateReads) of(id int64) *candidateRead {
	i := slices.IndexFunc(c.reads, func(one candidateRead) bool { return one.id == id })
	if i < 0 {
		return nil
	}
	return &c.reads[i]
}

// due is when the pause after a read is over.
func (c candidateRead) due() time.Time {
	first := lagAllowance
	if c.result == candidateUnread {
		first = candidateRetryInterval
	}
	return c.at.Add(min(first<<(c.tries-1), maxCandidatePause))
}

// next is when the next read is due; never, if it reports false. A person's request has everything read. That of a
// notification has only the application read that was named last, unless it is another's, because the service may not
// have sent it at all. The others follow after their pause: a sender that names them again and again must not cost a
// read of each every time.
func (c candidateRead) next(request string, last bool) (time.Time, bool) {
	another := request != "" && request != c.request
	switch {
	case another && !engine.IsNotification(request):
		return c.at, true
	case c.result == candidateOther:
		return time.Time{}, false
	case another && last:
		return c.at, true
	case another, c.again:
		return c.due(), true
	default:
		return time.Time{}, false
	}
}

// delaysCreate reports whether the application may be the Mandate's, for all that is known, so that a create would only
// be refused as a duplicate.
func (c candidateRead) delaysCreate() bool {
	return c.result == candidateUnread && c.tries < candidateReadsBeforeCreate
}

// with adds a read, and forgets those of applications that are not named any more.
func (c candidateReads) with(made candidateRead, named []int64) candidateReads {
	made.tries, made.again = 1, true
	if before := c.of(made.id); before != nil {
		made.tries = before.tries
		if made.result == candidateUnread || !made.at.Before(before.due()) {
			made.tries = min(before.tries+1, maxCandidateReads)
		}
		failed := made.result == candidateUnread || before.result == candidateUnread
		made.again = failed || before.request != made.request
	}
	c.reads = slices.DeleteFunc(slices.Clone(c.reads), func(one candidateRead) bool {
		return one.id == made.id || !slices.Contains(named, one.id)
	})
	c.reads = append(c.reads, made)
	return c
}
