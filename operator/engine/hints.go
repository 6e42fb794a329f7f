package engine

import (
	"slices"
	"strconv"
	"strings"
	"time"

	"sigs.k8s.io/controller-runtime/pkg/client"

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
	Time time.Time
	Used int // at that time, this one included
}

// ParseNotificationRequest gives the request that a value of the annotation is. A person's is none.
func ParseNotificationRequest(request string) NotificationRequest {
	text, isNotification := strings.CutPrefix(request, v1alpha1.NotificationRequestPrefix)
	text, used, _ := strings.Cut(text, "/")
	sent, err := time.Parse(time.RFC3339, text)
	if !isNotification || err != nil {
		return NotificationRequest{}
	}
	n, _ := strconv.Atoi(used) // what is no number is one
	return NotificationRequest{sent, min(max(n, 1), notificationBurst)}
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

// IDsIn reads an annotation that names applications: that of a Mandate, which may have one of them, or of a service, of
// which nobody knows whose they are. It gives the last ids, each once. What is no id is ignored.
func IDsIn(object client.Object, annotation string) (ids []int64) {
	for text := range strings.SplitSeq(object.GetAnnotations()[annotation], ",") {
		id, err := strconv.ParseInt(strings.TrimSpace(text), 10, 64)
		if err == nil && id > 0 && id <= v1alpha1.MaxID && !slices.Contains(ids, id) {
			ids = append(ids, id)
		}
		if len(ids) > v1alpha1.MaxCandidates {
			ids = ids[1:]
		}
	}
	return ids
}

// FormatIDs is the value of such an annotation.
func FormatIDs(ids []int64) string {
	texts := make([]string, len(ids))
	for i, id := range ids {
		texts[i] = strconv.FormatInt(id, 10)
	}
	return strings.Join(texts, ",")
}
