package ledger

import (
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/mandate-io/idv/api/v1alpha1"
)

// A time from the future is not within any period, but for what clocks may differ.
func TestTimesFromTheFuture(t *testing.T) {
	t.Parallel()
	now := time.Date(2026, 7, 1, 12, 0, 0, 0, time.UTC)
	for name, c := range map[string]struct {
		ago    time.Duration
		within bool
	}{
		"now":                     {0, true},
		"almost an hour ago":      {time.Hour - 1, true},
		"an hour ago":             {time.Hour, false},
		"a clock a little fast":   {-MaxSkew, true},
		"a clock fast":            {-MaxSkew - 1, false},
		"a clock fast for a year": {-365 * 24 * time.Hour, false},
	} {
		if got := Within(time.Hour, now.Add(-c.ago), now); got != c.within {
			t.Errorf("%s: within an hour is %t", name, got)
		}
	}
}

// What was refused to a process whose clock was fast is sent again, and not only when that time comes.
func TestRetryTimeFromTheFuture(t *testing.T) {
	t.Parallel()
	now := time.Date(2026, 7, 1, 12, 0, 0, 0, time.UTC)
	refused := New(v1alpha1.CallCreate, now.Add(365*24*time.Hour))
	record := &v1alpha1.ApplicationRecord{ObjectMeta: metav1.ObjectMeta{CreationTimestamp: metav1.NewTime(now)}}
	if at := RetryTime(record, &refused, now); at.After(now) {
		t.Errorf("it is sent again at %s", at)
	}
	refused = New(v1alpha1.CallCreate, now)
	if at := RetryTime(record, &refused, now); !at.Equal(now.Add(minRetryInterval)) {
		t.Errorf("it is sent again at %s", at)
	}
}

// What a person says of one call is about no other one, even if both end in one second.
func TestEndsOfOneSecond(t *testing.T) {
	t.Parallel()
	now := time.Date(2026, 7, 1, 12, 0, 0, 0, time.UTC)
	open := New(v1alpha1.CallCreate, now)
	first := Ended(open, v1alpha1.CallUnknown, now)
	second := Ended(Again(&first, now), v1alpha1.CallUnknown, now)
	if EndOf(&open) != "" || EndOf(&first) == EndOf(&second) {
		t.Errorf("the ends are %q, %q and %q", EndOf(&open), EndOf(&first), EndOf(&second))
	}
}
