package mandate

import (
	"slices"
	"time"

	"github.com/mandate-io/idv/operator/engine"
)

const (
	// nextRead is when an application that a notification names, and that could not be read, is read again.
	nextRead = 5 * time.Second
	// longestPause is between two looks at an application, however often they were in vain.
	longestPause = time.Hour
	// maxTries is how many looks are counted: the pause is the longest one by then.
	maxTries = 12
	// triesBeforeCreate is how often an application has to fail to be read until nothing waits for it any more.
	triesBeforeCreate = 2
)

// lookedAt is what this process knows of the applications that an annotation names.
type lookedAt struct {
	by    lookup // what follows is about the ids there
	looks []look
}

// look is the last one at an application.
type look struct {
	id     int64
	at     time.Time
	result lookResult
	// request is the one with which it was looked at. Another one may name what did not exist before.
	request string
	// again: it is looked at once more with that request, because a read may lag behind the create, or has failed.
	again bool
	// tries are the looks, but for those that came at once with another request. Each doubles the pause to the next.
	tries int
}

type lookResult int

const (
	lookOthers  lookResult = iota // it is another Mandate's or person's, and stays so
	lookRefused                   // there is none, or none that these credentials may read
	lookUnread                    // the service failed to answer, for this id or for all
)

// lookedAtBy gives what is known of the ids at one connection.
func (s *localState) lookedAtBy(by lookup) lookedAt {
	if s.named == nil || s.named.by != by {
		return lookedAt{by: by}
	}
	return *s.named
}

// of gives the last look at an application; nil if there was none.
func (l lookedAt) of(id int64) *look {
	i := slices.IndexFunc(l.looks, func(one look) bool { return one.id == id })
	if i < 0 {
		return nil
	}
	return &l.looks[i]
}

// due is when the pause after a look is over.
func (l look) due() time.Time {
	first := lagAllowance
	if l.result == lookUnread {
		first = nextRead
	}
	return l.at.Add(min(first<<(l.tries-1), longestPause))
}

// next is when the next look is due; never, if it reports false. A person's request has everything looked at, and that
// of a notification only the application that was named last, because the service may not have sent it at all. The
// others follow after their pause: a sender that names them again and again must not cost a read of each every time.
func (l look) next(request string, last bool) (time.Time, bool) {
	another := request != "" && request != l.request
	switch {
	case l.result == lookOthers:
		return time.Time{}, false
	case another && (last || !engine.IsNotification(request)):
		return l.at, true
	case another, l.again:
		return l.due(), true
	default:
		return time.Time{}, false
	}
}

// delaysCreate reports whether the application may be the Mandate's, for all that is known, so that a create would only
// be refused as a duplicate.
func (l look) delaysCreate() bool { return l.result == lookUnread && l.tries < triesBeforeCreate }

// with adds a look, and forgets those at applications that are not named any more.
func (l lookedAt) with(made look, named []int64) lookedAt {
	made.tries, made.again = 1, true
	if before := l.of(made.id); before != nil {
		made.tries = before.tries
		if made.result == lookUnread || !made.at.Before(before.due()) {
			made.tries = min(before.tries+1, maxTries)
		}
		failed := made.result == lookUnread || before.result == lookUnread
		made.again = failed || before.request != made.request
	}
	l.looks = slices.DeleteFunc(slices.Clone(l.looks), func(one look) bool {
		return one.id == made.id || !slices.Contains(named, one.id)
	})
	l.looks = append(l.looks, made)
	return l
}
