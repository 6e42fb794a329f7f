// Package dialect has a switch for each point that the interface leaves open, so that a client can be tested against
// every reading. readings_test.go lists the points with their switches, and says why some points need none.
//
// To add a switch:
//
//  1. Add a field of its name to Dialect. The zero value is the default reading.
//  2. Add a constant for each other value, and a definition, to the file of its group.
//  3. Implement it in package sandbox or state.
//  4. Add it to its open point in readings_test.go, and a case for each value to the tests of package sandbox.
package dialect

import (
	"reflect"
	"strings"

	"github.com/mandate-io/idv/internal/sandbox/control"
)

// Dialect is one reading of the whole interface. The zero value is the strict
// reading: what the interface documents, and the plainest choice for the rest.
type Dialect struct {
	// Authentication.
	ExpiresIn, TokenBasic, Credentials, TokenType, OlderTokens, APIPermission, GrantType, TokenForm, LoginRefusal,
	TokenRefusal string
	TokenLifetime int // seconds
	TokensPerHour int

	// What the user, or a filter in between, may not do.
	ForbiddenOperation, ForbiddenObject, ForbiddenMandateType, ForbiddenBody, ForbiddenStatus,
	ForbiddenAnswer string

	// Answers that say nothing, and work that is not done.
	ChangeAnswer, ChangeWork, ReadAnswer, AsyncWork, AsyncOperations, Ingress404, IngressBody string
	AsyncDelay                                                                                int // seconds

	// Every request and response.
	IDs, IDSize, StatusShape, StatusCase, Wrap, AbsentValues, ExtraMembers, MemberCase, SuccessStatus,
	SuccessBody, TitleGenderCase, ContentType, WrongMethod, TrailingSlash string

	// Refusals.
	RequiredFields, ReferenceFormat, DuplicateAnswer, InvalidStatus, UnknownMandateType, CreateRefusal, ErrorBody,
	ErrorShape, RateLimitAnswer string
	RateLimit int // requests per second

	// Creating, reading and keeping applications.
	CreateStatus, CreateBody, FirstState, StateNames, ApplicationReference, GoneAnswer, Suppress,
	DeletedReferences, ArchivedReferences, ReferenceCase, IndividualReferences, RetentionStart,
	ArchivedRetention string
	ReadLag       int // retrieves
	UniquenessGap int // milliseconds

	// Completing, rejecting and archiving.
	CompleteMethod, RejectMethod, TransitionBody, TransitionAnswer, TransitionRefusal, UndecidedChecks,
	RepeatedTransition, ArchivedTransition, RepeatedArchive, Completion string

	// Individuals and checks.
	RetrieveIndividual, ResendResetBody, ResendResetAnswer, ResetCheckIDs, DecidableChecks, RepeatedDecision,
	CheckReference, ManualCounters, ReportFormat, ReportNotReady, ReportAccept string

	IndividualIDs, IndividualOrder, IndividualReference, IndividualEmail, IndividualEntries, Checks,
	CheckStateNames, CheckRejection string

	// Reference data and webhooks.
	References, SubscribeFields, SubscribeEvents, SubscribeApplication, SubscribeAnswer, SubscribeTwice,
	SubscribeRequired, SubscribeHandshake, Subscriptions, RetrieveWebhook, NoWebhooks, Deliveries, DeliveryShape,
	DeliveredStatus string
}

// definition defines one switch. Its field has the same name. The field is a string, with the default as the first of
// the values, or an int of 0 or more, without values.
type definition struct {
	name, meaning string
	values        []string
}

// field points to the field of the switch; nil if there is none.
func (s definition) field(d *Dialect) any {
	field := reflect.ValueOf(d).Elem().FieldByNameFunc(func(name string) bool { return strings.EqualFold(name, s.name) })
	if !field.IsValid() {
		return nil
	}
	return field.Addr().Interface()
}

// groups are all switches, by what they are about.
var groups = []struct {
	name     string
	switches []definition
}{
	{"Authentication", authentication},
	{"Permissions", permissions},
	{"Requests and responses", responses},
	{"Proxies and work that is not done", proxies},
	{"Refusals and limits", refusals},
	{"Applications", applications},
	{"Complete, reject, archive", transitions},
	{"Individuals and checks", individuals},
	{"Reference data and webhooks", webhooks},
}

// Switches describes every switch with its value in d, group by group.
func (d Dialect) Switches() []control.Switch {
	var described []control.Switch
	for _, g := range groups {
		for _, s := range g.switches {
			described = append(described, control.Switch{
				Group: g.name, Name: s.name, Meaning: s.meaning,
				Values: s.choices(), Number: s.values == nil, Value: s.value(&d),
			})
		}
	}
	return described
}
