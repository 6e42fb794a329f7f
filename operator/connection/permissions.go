package connection

import (
	"time"
)

// permissions is what the user of a connection may do, as far as requests have shown. A service that forbids one thing
// to a user (403, or a 401 after a good login) may permit everything else. Only if it permits nothing are the
// credentials of no use.
type permissions struct {
	granted  time.Time // when a request was last permitted
	checked  time.Time // when the reference data was last asked for
	doubtful bool      // something was denied, and the reference data has to show whether anything is permitted
}

// evidencePeriod is how long what a request has shown counts.
const evidencePeriod = 30 * time.Second

func (p *permissions) record(class Class, denied bool, now time.Time) {
	switch {
	case denied:
		p.doubtful = p.doubtful || now.Sub(p.checked) > evidencePeriod
	case class == References:
		p.settle(true, now)
	default:
		p.granted = now
	}
}

// settle ends a doubt: the controller of services has asked for the reference data and, if that is forbidden, for an
// application.
func (p *permissions) settle(permitted bool, now time.Time) {
	if permitted {
		p.granted = now
	}
	p.checked, p.doubtful = now, false
}

// none reports whether nothing was permitted lately.
func (p *permissions) none(now time.Time) bool { return now.Sub(p.granted) >= evidencePeriod }
