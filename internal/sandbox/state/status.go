package state

import (
	"hash/crc32"
	"slices"
	"strings"
)

// Status is the state of an application, an individual or a check. Ids are not
// consecutive, because nothing says that the service's are.
type Status struct {
	ID   int64  `json:"id"`
	Name string `json:"status"`
}

// States of an application. The interface names in review, completed and a
// rejected one; the others are our reading.
var (
	statusCreated    = Status{12, "created"}
	statusPending    = Status{12, "pending"}
	statusDraft      = Status{12, "draft"}
	statusAwaiting   = Status{12, "awaiting individuals"}
	statusInProgress = Status{15, "in progress"}
	statusInReview   = Status{21, "in review"}
	statusCompleted  = Status{34, "completed"}
	statusRejected   = Status{35, "rejected"}
	statusDeleted    = Status{39, "deleted"}
)

// States of an individual: our reading.
var (
	individualCreated    = Status{102, "created"}
	individualInvited    = Status{103, "invited"}
	individualInProgress = Status{107, "in progress"}
	individualInReview   = Status{111, "in review"}
	individualCompleted  = Status{114, "completed"}
	individualFailed     = Status{118, "failed"}
)

// States of a check. The interface names the manual ones.
var (
	checkPending          = Status{201, "pending"}
	checkInReview         = Status{204, "in review"}
	checkPassed           = Status{207, "passed"}
	checkFailed           = Status{208, "failed"}
	checkManuallyAccepted = Status{221, "manually_accepted"}
	checkManuallyRejected = Status{222, "manually_rejected"}
)

var (
	openStatuses = []Status{
		statusCreated, statusPending, statusDraft, statusAwaiting, statusInProgress, statusInReview,
	}
	finalStatuses = []Status{statusCompleted, statusRejected, statusDeleted}
)

// statusNamed returns the status with a name, which can be one that the sandbox does not have.
func statusNamed(name string) Status {
	for _, known := range slices.Concat(openStatuses, finalStatuses) {
		if known.Name == name {
			return known
		}
	}
	return Status{ID: 1000 + int64(crc32.ChecksumIEEE([]byte(name))%1000), Name: name}
}

// final is true for every state of an application that is not open, also for one that the sandbox does not have.
func (s Status) final() bool { return !slices.Contains(openStatuses, s) }

func (s Status) event() string { return strings.ReplaceAll(s.Name, " ", "_") }
