package engine

import (
	"strconv"
	"strings"
	"time"

	"github.com/mandate-io/idv/api/v1alpha1"
)

const (
	// notificationInterval is the least time between two reads of an application because of notifications, on average.
	notificationInterval = 10 * time.Second
	// notificationBurst is how many may follow each other by notificationGap.
	notificationBurst, notificationGap = 3, time.Second
)

// NotificationRequest is a request to reconcile that comes from a notification. The zero value is none.
//
// A Mandate gets one in ten seconds. It may have saved up three, so that the event that follows the create, or another
// event, shows at once. How many of these are used is part of the request, so that all replicas share them.
type NotificationRequest struct {
	// Time of the request, and how many were used then, this one included.
	Time time.Time
	Used int
}

// ParseNotificationRequest gives the request that a value of the annotation is. A person's is none.
func ParseNotificationRequest(request string) NotificationRequest {
	text, isNotification := strings.CutPrefix(request, v1alpha1.NotificationRequestPrefix)
	text, used, isNext := strings.Cut(text, "/")
	sent, err := time.Parse(time.RFC3339, text)
	if !isNotification || err != nil {
		return NotificationRequest{}
	}
	n := NotificationRequest{sent, 1}
	if isNext {
		n.Used, _ = strconv.Atoi(used) // anything else is one
	}
	n.Used = min(max(n.Used, 1), notificationBurst)
	return n
}

// String is the value of the annotation.
func (n NotificationRequest) String() string {
	text := v1alpha1.NotificationRequestPrefix + n.Time.UTC().Format(time.RFC3339)
	if n.Used > 1 {
		text += "/" + strconv.Itoa(n.Used)
	}
	return text
}

// Wait is how long the next one has to wait.
func (n NotificationRequest) Wait(now time.Time) time.Duration {
	gap := notificationGap
	if n.Used >= notificationBurst {
		gap = notificationInterval
	}
	return min(n.Time.Add(gap).Sub(now), gap) // the clock of another replica may be fast
}

// Next is the one that follows.
func (n NotificationRequest) Next(now time.Time) NotificationRequest {
	saved := int(max(now.Sub(n.Time), 0) / notificationInterval)
	return NotificationRequest{now, min(max(n.Used-saved, 0)+1, notificationBurst)}
}
