package mandate

import (
	"maps"
	"reflect"
	"slices"
	"testing"
	"time"

	"github.com/mandate-io/idv/api/v1alpha1"
)

func older(t time.Time, by time.Duration) time.Time {
	if t.IsZero() {
		return t
	}
	return t.Add(-by)
}

// agedObject makes every time in an object of the API older.
func agedObject(v reflect.Value, by time.Duration) {
	switch v.Kind() {
	case reflect.Pointer:
		if !v.IsNil() {
			agedObject(v.Elem(), by)
		}
	case reflect.Slice:
		for i := range v.Len() {
			agedObject(v.Index(i), by)
		}
	case reflect.Struct:
		if t, ok := reflect.TypeAssert[*time.Time](v.Addr()); ok {
			*t = older(*t, by)
			return
		}
		for i := range v.NumField() {
			if v.Type().Field(i).IsExported() {
				agedObject(v.Field(i), by)
			}
		}
	}
}

func agedMandates(from map[string]*v1alpha1.Mandate, by time.Duration) map[string]*v1alpha1.Mandate {
	aged := map[string]*v1alpha1.Mandate{}
	for name, m := range from {
		aged[name] = agedMandate(m, by)
	}
	return aged
}

func agedMandate(m *v1alpha1.Mandate, by time.Duration) *v1alpha1.Mandate {
	m = m.DeepCopy()
	agedObject(reflect.ValueOf(m), by)
	return m
}

func agedRecords(from map[string]*v1alpha1.ApplicationRecord, by time.Duration) map[string]*v1alpha1.ApplicationRecord {
	if from == nil {
		return nil
	}
	aged := map[string]*v1alpha1.ApplicationRecord{}
	for name, r := range from {
		aged[name] = agedRecord(r, by)
	}
	return aged
}

func agedRecord(r *v1alpha1.ApplicationRecord, by time.Duration) *v1alpha1.ApplicationRecord {
	r = r.DeepCopy()
	agedObject(reflect.ValueOf(r), by)
	return r
}

func (w *world) aged(by time.Duration) *world {
	c := w.clone()
	c.mandates = agedMandates(w.mandates, by)
	c.records = agedRecords(w.records, by)
	c.backup = agedRecords(w.backup, by)
	c.service = w.service.DeepCopy()
	c.exchangedTime = older(w.exchangedTime, by)
	agedObject(reflect.ValueOf(c.service), by)
	for _, url := range sorted(c.sites) {
		c.changeSite(url, func(s *site) {
			for i := range s.applications {
				s.applications[i].created = older(s.applications[i].created, by)
				s.applications[i].subscribing = stillUnderWay(s.applications[i].subscribing, by)
			}
			for i := range s.underWay {
				s.underWay[i].sent = older(s.underWay[i].sent, by)
			}
			s.underWay = slices.DeleteFunc(s.underWay, func(r request) bool { return now.Sub(r.sent) > maxRequestTime })
		})
	}
	return c
}

func (o *operator) aged(by time.Duration) *operator {
	c := *o
	c.mandates, c.service = agedMandates(o.mandates, by), o.service.DeepCopy()
	agedObject(reflect.ValueOf(c.service), by)
	c.missing = maps.Clone(o.missing)
	for name, missing := range c.missing {
		missing.lastKnown = older(missing.lastKnown, by)
		c.missing[name] = missing
	}
	c.localState = nil
	for name, entry := range o.localState {
		if c.localState == nil {
			c.localState = remembered{}
		}
		entry.Value.changed = older(entry.Value.changed, by)
		entry.Value.read = older(entry.Value.read, by)
		entry.Value.settled.at = older(entry.Value.settled.at, by)
		entry.Value.firstSeen = older(entry.Value.firstSeen, by)
		entry.Value.attempt.Time = older(entry.Value.attempt.Time, by)
		if named := entry.Value.candidateReads; named != nil {
			aged := *named
			aged.reads = slices.Clone(named.reads)
			for i := range aged.reads {
				aged.reads[i].at = older(aged.reads[i].at, by)
			}
			entry.Value.candidateReads = &aged
		}
		entry.Value.subscription = entry.Value.subscription.aged(by)
		c.localState[name] = entry
	}
	if o.current == nil {
		return &c
	}
	p := *o.current
	p.mandate = agedMandate(p.mandate, by)
	if p.record != nil {
		p.record = agedRecord(p.record, by)
	}
	for _, t := range p.facts.times() {
		*t = older(*t, by)
	}
	c.current = &p
	return &c
}

// times are those that the facts hold from one step to the next.
func (f *facts) times() []*time.Time {
	return []*time.Time{
		&f.now,
		&f.createBefore,
		&f.missingSince,
		&f.createdTime,
		&f.readAt,
		&f.deletion.giveUpTime,
		&f.record.firstStarted,
		&f.record.retryAt,
		&f.record.observed,
		&f.attempt.started,
		&f.attempt.answered,
		&f.subscription.seen,
	}
}

func TestEveryTimeOfTheFactsAges(t *testing.T) {
	if got, want := len((&facts{}).times()), timesIn(reflect.TypeFor[facts]()); got != want {
		t.Errorf("times knows %d of the %d times in facts", got, want)
	}
}

func timesIn(of reflect.Type) (n int) {
	if of == reflect.TypeFor[time.Time]() {
		return 1
	}
	for field := range of.Fields() {
		if field.Type.Kind() == reflect.Struct {
			n += timesIn(field.Type)
		}
	}
	return n
}
