// Package dialect has a switch for each point that the interface leaves open, so
// that a client can be tested against every reading. Readings lists the points
// with their switches, and says why some points need none.
//
// To add a switch:
//
//  1. Add a field to Dialect. Its zero value is the default reading.
//  2. Add a constant for each other value, and a definition, to the file of its group.
//  3. Implement it in package sandbox or state.
//  4. Add it to its open point in Readings.
package dialect

import "github.com/mandate-io/idv/internal/sandbox/control"

// Dialect is one reading of the whole interface. The zero value is the strict
// reading: what the interface documents, and the plainest choice for the rest.
type Dialect struct {
	// Authentication.
	ExpiresIn     string
	TokenBasic    string
	Credentials   string
	TokenType     string
	TokenLifetime int // seconds
	OlderTokens   string
	APIPermission string
	GrantType     string
	TokenForm     string
	TokensPerHour int
	LoginRefusal  string
	TokenRefusal  string

	// What the user, or a filter in between, may not do.
	ForbiddenOperation   string
	ForbiddenObject      string
	ForbiddenMandateType string
	ForbiddenBody        string
	ForbiddenStatus      string
	ForbiddenAnswer      string

	// Answers that say nothing, and work that is not done.
	ChangeAnswer    string
	ChangeWork      string
	ReadAnswer      string
	AsyncWork       string
	AsyncOperations string
	AsyncDelay      int // seconds
	Ingress404      string
	IngressBody     string

	// Every request and response.
	IDs             string
	IDSize          string
	StatusShape     string
	StatusCase      string
	Wrap            string
	AbsentValues    string
	ExtraMembers    string
	MemberCase      string
	SuccessStatus   string
	SuccessBody     string
	TitleGenderCase string
	ContentType     string
	WrongMethod     string
	TrailingSlash   string

	// Refusals.
	RequiredFields     string
	ReferenceFormat    string
	DuplicateAnswer    string
	InvalidStatus      string
	UnknownMandateType string
	CreateRefusal      string
	ErrorBody          string
	ErrorShape         string
	RateLimit          int // requests per second
	RateLimitAnswer    string

	// Creating, reading and keeping applications.
	CreateStatus         string
	CreateBody           string
	FirstState           string
	StateNames           string
	ReadLag              int // retrieves
	ApplicationReference string
	GoneAnswer           string
	Suppress             string
	DeletedReferences    string
	ArchivedReferences   string
	ReferenceCase        string
	IndividualReferences string
	UniquenessGap        int // milliseconds
	RetentionStart       string
	ArchivedRetention    string

	// Completing, rejecting and archiving.
	CompleteMethod     string
	RejectMethod       string
	TransitionBody     string
	TransitionAnswer   string
	TransitionRefusal  string
	UndecidedChecks    string
	RepeatedTransition string
	ArchivedTransition string
	RepeatedArchive    string
	Completion         string

	// Individuals and checks.
	RetrieveIndividual string
	ResendResetBody    string
	ResendResetAnswer  string
	ResetCheckIDs      string
	DecidableChecks    string
	RepeatedDecision   string
	CheckReference     string
	ManualCounters     string
	ReportFormat       string
	ReportNotReady     string
	ReportAccept       string

	IndividualIDs       string
	IndividualOrder     string
	IndividualReference string
	IndividualEmail     string
	IndividualEntries   string
	Checks              string
	CheckStateNames     string
	CheckRejection      string

	// Reference data and webhooks.
	References           string
	SubscribeFields      string
	SubscribeEvents      string
	SubscribeApplication string
	SubscribeAnswer      string
	SubscribeTwice       string
	SubscribeRequired    string
	SubscribeHandshake   string
	Subscriptions        string
	RetrieveWebhook      string
	NoWebhooks           string
	Deliveries           string
	DeliveryShape        string
	DeliveredStatus      string
}

// definition defines one switch. The field is a string, with the default as the
// first of its values, or an int of 0 or more.
type definition struct {
	name    string
	meaning string
	values  []string
	field   func(*Dialect) any
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
