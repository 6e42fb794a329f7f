package mandate

import (
	"slices"
	"time"

	"github.com/mandate-io/idv/internal/test/explore"
)

// aged is the world after a while: what the service has not carried out by then, it never does.
func (w *world) aged(by time.Duration) *world {
	c := explore.Age(states, w, by)
	c.pinResets()
	for url, here := range c.sites {
		for i := range here.applications {
			here.applications[i].subscribing = slices.DeleteFunc(here.applications[i].subscribing, isOver)
		}
		here.underWay = slices.DeleteFunc(here.underWay, func(r request) bool { return isOver(r.sent) })
		c.sites[url] = here
	}
	return c
}

func isOver(sent time.Time) bool { return now.Sub(sent) > maxRequestTime }

func (o *operator) aged(by time.Duration) *operator { return explore.Age(states, o, by) }
