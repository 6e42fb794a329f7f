package control

import (
	"fmt"
	"time"
)

// Operation names one documented operation of the service, in faults and statistics.
type Operation string

// The documented operations, sorted as in the interface.
const (
	Token               Operation = "token"
	CreateApplication   Operation = "create_application"
	RetrieveApplication Operation = "retrieve_application"
	DeleteApplication   Operation = "delete_application"
	ArchiveApplication  Operation = "archive_application"
	CompleteApplication Operation = "complete_application"
	RejectApplication   Operation = "reject_application"
	AcceptCheck         Operation = "accept_check"
	RejectCheck         Operation = "reject_check"
	RetrieveIndividual  Operation = "retrieve_individual"
	ResendInvites       Operation = "resend_invites"
	ResetIndividual     Operation = "reset_individual"
	IndividualReport    Operation = "individual_report"
	References          Operation = "references"
	SubscribeWebhook    Operation = "subscribe_webhook"
	RetrieveWebhook     Operation = "retrieve_webhook"
)

// Unknown is the operation of a request that the interface does not document.
const Unknown Operation = "unknown"

// AnyOperation makes a Fault apply to all operations.
const AnyOperation Operation = "*"

// Operations lists every documented operation.
func Operations() []Operation {
	return []Operation{
		Token, CreateApplication, RetrieveApplication, DeleteApplication, ArchiveApplication,
		CompleteApplication, RejectApplication, AcceptCheck, RejectCheck, RetrieveIndividual,
		ResendInvites, ResetIndividual, IndividualReport, References, SubscribeWebhook, RetrieveWebhook,
	}
}

// EmailKind says why an e-mail was sent.
type EmailKind string

// The reasons for an e-mail.
const (
	Invite EmailKind = "invite"
	Resend EmailKind = "resend"
	Reset  EmailKind = "reset"
	Notice EmailKind = "notice" // of a check that was rejected
)

// EmailKinds lists every kind.
func EmailKinds() []EmailKind { return []EmailKind{Invite, Resend, Reset, Notice} }

// Email is one message that the real service would have sent to a person.
type Email struct {
	Sequence            int64     `json:"sequence"`
	Time                time.Time `json:"time"`
	Kind                EmailKind `json:"kind"`
	ApplicationID       int64     `json:"application_id"`
	Reference           string    `json:"reference"`
	IndividualID        int64     `json:"individual_id"`
	IndividualReference string    `json:"individual_reference"`
	Address             string    `json:"address"`
	InviteCode          string    `json:"invite_code"`
	// Recipient, ApplicationName and MandateType are part of the text of the e-mail.
	Recipient       string `json:"recipient"`
	ApplicationName string `json:"application_name"`
	MandateType     string `json:"mandate_type"`
}

// Application is the short form of an application.
type Application struct {
	ID          int64        `json:"id"`
	Name        string       `json:"name"`
	Reference   string       `json:"reference"`
	MandateType string       `json:"mandate_type"` // its name
	State       string       `json:"state"`
	Archived    bool         `json:"archived"`
	CreatedTime time.Time    `json:"created_time"`
	ExpiryTime  time.Time    `json:"expiry_time"`
	Individuals []Individual `json:"individuals"`
}

// Individual is the short form of an individual.
type Individual struct {
	ID               int64   `json:"id"`
	Name             string  `json:"name"`
	Email            string  `json:"email"`
	Reference        string  `json:"reference"`
	State            string  `json:"state"`
	TermsAccepted    bool    `json:"terms_accepted"`
	ActionsCompleted bool    `json:"actions_completed"`
	Checks           []Check `json:"checks"`
}

// Check is the short form of a check.
type Check struct {
	ID    int64  `json:"id"`
	Name  string `json:"name"`
	Title string `json:"title"`
	State string `json:"state"`
}

// Step is something an individual does in the mobile app.
type Step string

// The steps. Each one includes the previous ones.
const (
	AcceptTerms     Step = "accept_terms"
	CompleteActions Step = "complete_actions"
	FinishChecks    Step = "finish_checks"
)

// Result is the result of checks.
type Result string

// The results of checks. ResultReview leaves the decision to the client.
const (
	ResultPass   Result = "pass"
	ResultFail   Result = "fail"
	ResultReview Result = "review"
)

// Results lists every result.
func Results() []Result { return []Result{ResultPass, ResultFail, ResultReview} }

// Play makes individuals act.
type Play struct {
	// ApplicationID or Reference names the application; the id wins.
	ApplicationID int64  `json:"application_id,omitempty"`
	Reference     string `json:"reference,omitempty"`
	// Individual is one individual's reference or id; empty plays all of them.
	Individual string `json:"individual,omitempty"`
	// Step is how far they go; empty means FinishChecks.
	Step Step `json:"step,omitempty"`
	// Check limits FinishChecks to the check of this name; empty means every check.
	Check string `json:"check,omitempty"`
	// Result is the result of the checks; empty means ResultPass.
	Result Result `json:"result,omitempty"`
}

// StateChange moves an application to a state, as somebody at the service can: back to "in review", or to a word that
// the documentation does not have.
type StateChange struct {
	// ApplicationID or Reference names the application; the id wins.
	ApplicationID int64  `json:"application_id,omitempty"`
	Reference     string `json:"reference,omitempty"`
	// State is the name of the state. One that the sandbox does not have is final.
	State string `json:"state"`
}

// MaxClockYears is how far a clock can be from the time of this machine. It keeps every duration from overflowing.
const MaxClockYears = 100

// Clock is the sandbox's time. It continues from the time it is set to.
type Clock struct {
	Now time.Time `json:"now"`
}

// ClockStep moves the clock by whole seconds, back too.
type ClockStep struct {
	Seconds int64 `json:"seconds"`
}

// ParseTime reads a time that a clock can be set to. Its error begins with the field, and says how a time is written.
func ParseTime(field, text string) (time.Time, error) {
	t, err := time.Parse(time.RFC3339, text)
	if err != nil {
		return t, fmt.Errorf("%s: must be a time in RFC 3339 format, for example 2026-01-31T12:00:00Z", field)
	}
	return t, CheckTime(field+":", t)
}

// CheckTime returns an error for a time that a clock cannot be set to. It begins with subject.
func CheckTime(subject string, t time.Time) error {
	now := time.Now()
	if t.After(now.AddDate(MaxClockYears, 0, 0)) || t.Before(now.AddDate(-MaxClockYears, 0, 0)) {
		return fmt.Errorf("%s must be within %d years of the time of this machine", subject, MaxClockYears)
	}
	return nil
}

// Statistics counts requests to the service since the start or the last reset of the statistics.
type Statistics struct {
	// Logins counts the issued tokens.
	Logins     int64                             `json:"logins"`
	Operations map[Operation]OperationStatistics `json:"operations"`
}

// Requests is the number of requests of the operation, whatever the response.
func (s Statistics) Requests(op Operation) int64 { return s.Operations[op].Requests }

// OperationStatistics counts one operation.
type OperationStatistics struct {
	Requests int64 `json:"requests"`
	// Answers counts the responses by status code in decimal; Lost counts those that a fault kept back.
	Answers map[string]int64 `json:"answers"`
}

// Lost is the key in OperationStatistics.Answers for responses that a fault kept back.
const Lost = "lost"

// DeliveryState is the state of a webhook delivery.
type DeliveryState string

// The states of a delivery.
const (
	Queued    DeliveryState = "queued"
	Delivered DeliveryState = "delivered"
	// Failed means that no attempt got a 2xx response.
	Failed DeliveryState = "failed"
	// Dropped means that the queue was full or the sandbox stopped.
	Dropped DeliveryState = "dropped"
	// Blocked means that the target is another machine and remote deliveries are off.
	Blocked DeliveryState = "blocked"
)

// Delivery is one webhook delivery with its outcome.
type Delivery struct {
	Sequence       int64         `json:"sequence"`
	Time           time.Time     `json:"time"`
	SubscriptionID int64         `json:"subscription_id"`
	URL            string        `json:"url"`
	Event          string        `json:"event"`
	ApplicationID  int64         `json:"application_id"`
	State          DeliveryState `json:"state"`
	Attempts       int           `json:"attempts"`
	// LastStatus is the status code of the last attempt; 0 means no response.
	LastStatus int `json:"last_status"`
}

// Autoplay is the mode in which the sandbox plays the individuals.
type Autoplay struct {
	Enabled bool `json:"enabled"`
	// DelayMillis is the time between two steps of an individual; a request that omits it keeps the delay.
	DelayMillis int64 `json:"delay_ms,omitempty"`
}

// Switch is one dialect switch.
type Switch struct {
	// Group is the topic of the switch.
	Group string `json:"group"`
	Name  string `json:"name"`
	// Meaning says what the switch selects.
	Meaning string `json:"meaning"`
	// Values lists the values; the first is the default.
	Values []string `json:"values"`
	// Number is true if any integer from 0 is valid, and Values are examples.
	Number bool   `json:"number,omitempty"`
	Value  string `json:"value"`
}

// Revoked is the number of revoked tokens.
type Revoked struct {
	Revoked int `json:"revoked"`
}

// Failure is the body of every response of the control API that is not 2xx.
type Failure struct {
	Error string `json:"error"`
}
