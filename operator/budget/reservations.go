package budget

import (
	"math"
	"slices"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/mandate-io/idv/api/v1alpha1"
)

// windows are the lengths of what spec.creation counts. late is how long after its reservation a request can arrive at
// the service: it counts for as much longer.
type windows struct{ hour, day, late time.Duration }

// The bounds of what the status keeps: so many reservations in an hour, and in the rest of the day.
const partsOfHour, partsOfDay = 30, 48

type reservations []v1alpha1.CreationReservation

// since counts what was reserved after a time.
func (r reservations) since(t time.Time) (count int) {
	for _, reserved := range r {
		if reserved.Time.After(t) {
			count += int(reserved.Count)
		}
	}
	return count
}

// newest is the time of the last of them.
func (r reservations) newest() (newest time.Time) {
	for _, reserved := range r {
		if reserved.Time.After(newest) {
			newest = reserved.Time.Time
		}
	}
	return newest
}

// used counts what a window has that ends now.
func (r reservations) used(window time.Duration, w windows, now time.Time) int {
	return r.since(now.Add(-window - w.late))
}

// free is how many requests spec.creation allows now.
func (r reservations) free(limits v1alpha1.Creation, w windows, now time.Time) int {
	hour, day := int(limits.MaxPerHour)-r.used(w.hour, w, now), int(limits.MaxPerDay)-r.used(w.day, w, now)
	return max(0, min(hour, day))
}

// nextFree is when spec.creation allows a request, if nothing else is reserved.
func (r reservations) nextFree(limits v1alpha1.Creation, w windows, now time.Time) time.Time {
	next := now
	for _, reserved := range r {
		for _, window := range []struct {
			length time.Duration
			limit  int32
		}{{w.hour, limits.MaxPerHour}, {w.day, limits.MaxPerDay}} {
			ends := reserved.Time.Add(window.length + w.late)
			if r.used(window.length, w, next) >= int(window.limit) && ends.After(next) {
				next = ends
			}
		}
	}
	return next
}

// giveBack takes back what was reserved at a time and not used.
func (r reservations) giveBack(reserved time.Time, unused int) {
	for i := range r {
		if unused > 0 && !r[i].Time.Time.Before(reserved) && int(r[i].Count) >= unused {
			r[i].Count -= count(unused)
			return
		}
	}
}

// merge drops what counts no more, but for the last reservation, and joins what is close together. What is joined
// counts until the last of it does not. A time far in the future is of a clock that was wrong, and counts from now on.
func (r reservations) merge(w windows, now time.Time) reservations {
	var kept reservations
	part := func(t time.Time) int64 {
		length := (w.hour + w.late) / partsOfHour
		if now.Sub(t) > w.hour+w.late {
			length = (w.day + w.late) / partsOfDay
		}
		return t.UnixNano() / int64(length)
	}
	for i, reserved := range r {
		if reserved.Time.After(now.Add(clockError)) {
			reserved.Time = metav1.NewTime(now)
		}
		last := len(kept) - 1
		switch {
		case i < len(r)-1 && (reserved.Count == 0 || now.Sub(reserved.Time.Time) >= w.day+w.late):
		case last >= 0 && part(kept[last].Time.Time) == part(reserved.Time.Time):
			kept[last].Time = reserved.Time
			kept[last].Count += reserved.Count
		default:
			kept = append(kept, reserved)
		}
	}
	return kept
}

// count is a number of requests or Mandates in a status.
func count(n int) int32 { return int32(min(n, math.MaxInt32)) } //nolint:gosec // it is bounded

// larger counts in each window as much as the one of two lists that counts more in it.
func (r reservations) larger(other reservations) reservations {
	times := slices.Concat(r, other)
	slices.SortFunc(times, func(a, b v1alpha1.CreationReservation) int { return b.Time.Compare(a.Time.Time) })
	var all reservations // the newest first
	total := 0
	for _, t := range times {
		before := t.Time.Add(-1)
		if n := max(r.since(before), other.since(before)); n > total {
			all = append(all, v1alpha1.CreationReservation{Time: t.Time, Count: count(n - total)})
			total = n
		}
	}
	slices.Reverse(all)
	return all
}
