package engine

import (
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/event"
	"sigs.k8s.io/controller-runtime/pkg/predicate"

	"github.com/mandate-io/idv/api/v1alpha1"
	"github.com/mandate-io/idv/internal/tolerant"
	"github.com/mandate-io/idv/operator/connection"
)

// ReconcileRequest is the request to reconcile an object, as far as a status can acknowledge it; "" if there is none.
func ReconcileRequest(object client.Object) string {
	return TruncateText(object.GetAnnotations()[v1alpha1.ReconcileRequestAnnotation])
}

// IsNotification reports whether a request is not a person's.
func IsNotification(request string) bool {
	return strings.HasPrefix(request, v1alpha1.NotificationRequestPrefix)
}

// CompleteRecord is the uid of the ApplicationRecord of which a person says, at its Mandate, that it lacks nothing that
// was sent; "" if there is none.
func CompleteRecord(mandate metav1.Object) types.UID {
	if uid := mandate.GetAnnotations()[v1alpha1.RecordCompleteAnnotation]; len(uid) <= maxUID {
		return types.UID(uid)
	}
	return ""
}

// RequestedBy is the user name of the author of what an object orders; "" if nobody says so.
func RequestedBy(object metav1.Object) string {
	name := object.GetAnnotations()[v1alpha1.RequestedByAnnotation]
	if utf8.RuneCountInString(name) > v1alpha1.MaxRequestedBy {
		return ""
	}
	return name
}

// maxUID is how long a uid can be.
const maxUID = 64

// SpecChanged lets edits of the spec pass, and objects that could not be decoded before.
var SpecChanged = predicate.Or(predicate.GenerationChangedPredicate{}, becameReadable)

// SpecOrRequestChanged lets requests to reconcile pass, too.
var SpecOrRequestChanged = predicate.Or(SpecChanged, requestChanged)

var becameReadable = predicate.Funcs{UpdateFunc: func(e event.UpdateEvent) bool {
	return len(tolerant.UnreadableFields(e.ObjectOld)) > 0
}}

var requestChanged = predicate.Funcs{UpdateFunc: func(e event.UpdateEvent) bool {
	request, candidates := ReconcileRequest(e.ObjectNew), Candidates(e.ObjectNew)
	return request != "" && request != ReconcileRequest(e.ObjectOld) ||
		CompleteRecord(e.ObjectNew) != CompleteRecord(e.ObjectOld) ||
		connection.VouchedAccount(e.ObjectNew) != connection.VouchedAccount(e.ObjectOld) ||
		len(candidates) > 0 && !slices.Equal(candidates, Candidates(e.ObjectOld))
}}

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

// Candidates are the ids that an annotation names as those of applications that may be a Mandate's: the last ones, each
// once. What is no id is ignored.
func Candidates(mandate client.Object) []int64 {
	return ParseCandidates(mandate.GetAnnotations()[v1alpha1.CandidateAnnotation])
}

// UnknownIDs are those that an annotation of a service names: of applications that may be the ones of Mandates whose
// create had no answer.
func UnknownIDs(service client.Object) []int64 {
	return ParseCandidates(service.GetAnnotations()[v1alpha1.UnknownIDsAnnotation])
}

// ParseCandidates reads the value of either annotation.
func ParseCandidates(named string) (ids []int64) {
	if named == "" {
		return nil
	}
	for text := range strings.SplitSeq(named, ",") {
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

// FormatCandidates is the value of either annotation.
func FormatCandidates(ids []int64) string {
	texts := make([]string, len(ids))
	for i, id := range ids {
		texts[i] = strconv.FormatInt(id, 10)
	}
	return strings.Join(texts, ",")
}
