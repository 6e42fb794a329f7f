package budget

import (
	"math/rand/v2"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/mandate-io/idv/api/v1alpha1"
)

var hourly = windows{time.Hour, 24 * time.Hour, 3 * time.Minute}

// In no hour and in no day do more requests arrive than spec.creation allows, whatever is reserved, used, given back
// and joined, by however many processes. Each request arrives some time after its reservation.
func TestNoWindowIsAbove(t *testing.T) {
	t.Parallel()
	for seed := range uint64(200) {
		random := rand.New(rand.NewPCG(seed, 1))
		perHour := 1 + random.Int32N(60)
		limits := v1alpha1.Creation{MaxPerHour: perHour, MaxPerDay: perHour + random.Int32N(200)}
		now := time.Date(2026, 11, 27, 0, 0, 0, 0, time.UTC)
		var all reservations
		var arrived []time.Time
		for range 3000 {
			now = now.Add(time.Duration(random.Int64N(int64(4 * time.Minute))))
			size := min(1+random.IntN(maxReserved), all.free(limits, hourly, now))
			if size <= 0 {
				if next := all.nextFree(limits, hourly, now); !next.After(now) {
					t.Fatalf("seed %d: nothing is free at %s, and the next is said to be free at %s", seed, now, next)
				}
				continue
			}
			all = append(all, v1alpha1.CreationReservation{Time: metav1.NewTime(now), Count: count(size)})
			used := random.IntN(size + 1)
			for range used {
				arrived = append(arrived, now.Add(time.Duration(random.Int64N(int64(hourly.late)))))
			}
			if random.IntN(3) > 0 { // else its process was killed
				all.giveBack(now, size-used)
			}
			all = all.merge(hourly, now)
		}
		if len(all) > 200 {
			t.Errorf("seed %d: the status keeps %d reservations", seed, len(all))
		}
		if most := mostWithin(arrived, time.Hour); most > int(limits.MaxPerHour) {
			t.Errorf("seed %d: %d requests in an hour, and %d are allowed", seed, most, limits.MaxPerHour)
		}
		if most := mostWithin(arrived, 24*time.Hour); most > int(limits.MaxPerDay) {
			t.Errorf("seed %d: %d requests in a day, and %d are allowed", seed, most, limits.MaxPerDay)
		}
		if allowed := min(int(limits.MaxPerHour)*100, int(limits.MaxPerDay)*4); len(arrived) < allowed/8 {
			t.Errorf("seed %d: only %d of %d requests were sent", seed, len(arrived), allowed)
		}
	}
}

// mostWithin is how many of the times are within one window.
func mostWithin(times []time.Time, window time.Duration) (most int) {
	for _, end := range times {
		n := 0
		for _, t := range times {
			if !t.After(end) && end.Sub(t) < window {
				n++
			}
		}
		most = max(most, n)
	}
	return most
}

// What is free next is free then, and not before.
func TestNextFree(t *testing.T) {
	t.Parallel()
	now := time.Date(2026, 11, 27, 12, 0, 0, 0, time.UTC)
	at := func(ago time.Duration, count int32) v1alpha1.CreationReservation {
		return v1alpha1.CreationReservation{Time: metav1.NewTime(now.Add(-ago)), Count: count}
	}
	limits := v1alpha1.Creation{MaxPerHour: 10, MaxPerDay: 20}
	for name, c := range map[string]struct {
		all  reservations
		want time.Duration
	}{
		"nothing is reserved":      {nil, 0},
		"some are left":            {reservations{at(10*time.Minute, 9)}, 0},
		"the hour is full":         {reservations{at(50*time.Minute, 4), at(10*time.Minute, 6)}, 13 * time.Minute},
		"the day is full":          {reservations{at(20*time.Hour, 15), at(2*time.Hour, 5)}, 4*time.Hour + 3*time.Minute},
		"both are":                 {reservations{at(20*time.Hour, 10), at(time.Minute, 10)}, 4*time.Hour + 3*time.Minute},
		"the limits were lowered":  {reservations{at(30*time.Minute, 4), at(20*time.Minute, 12)}, 43 * time.Minute},
		"what is old does not do":  {reservations{at(25*time.Hour, 500)}, 0},
		"given back does not, too": {reservations{at(time.Minute, 0)}, 0},
	} {
		next := c.all.nextFree(limits, hourly, now)
		if got := next.Sub(now); got != c.want {
			t.Errorf("%s: the next is free after %s, want %s", name, got, c.want)
		}
		if c.all.free(limits, hourly, next) < 1 {
			t.Errorf("%s: nothing is free when it should be", name)
		}
		if c.want > 0 && c.all.free(limits, hourly, next.Add(-time.Second)) > 0 {
			t.Errorf("%s: some are free before", name)
		}
	}
}

// A reservation from the future is of a clock that was wrong. It counts for an hour and a day from now on, and not for
// ever.
func TestReservationFromTheFuture(t *testing.T) {
	t.Parallel()
	now := time.Date(2026, 11, 27, 12, 0, 0, 0, time.UTC)
	all := reservations{{Time: metav1.NewTime(now.Add(1000 * time.Hour)), Count: 5}}
	all = all.merge(hourly, now)
	if got := all.used(time.Hour, hourly, now); got != 5 {
		t.Errorf("it counts as %d", got)
	}
	if got := all.used(time.Hour, hourly, now.Add(2*time.Hour)); got != 0 {
		t.Errorf("two hours later, it counts as %d", got)
	}
}
