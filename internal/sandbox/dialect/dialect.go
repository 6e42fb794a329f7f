// Package dialect names the readings of everything that the interface leaves
// open, so that a client can be tested against each of them.
//
// To add one: a field in Dialect whose zero value is the default reading, a
// constant for each other value, a row in switches, and the place that obeys it.
package dialect

// Dialect is one reading of the whole interface. The zero value is the strict
// reading: what the document says, and the plainest guess where it is silent.
type Dialect struct {
	// Token request.
	ExpiresIn  string
	TokenBasic string

	// Every answer.
	IDs         string
	StatusShape string
	StatusCase  string
	Wrap        string

	// Creating and reading applications.
	CreateStatus         string
	CreateBody           string
	DuplicateAnswer      string
	FirstState           string
	ReadLag              int
	Suppress             string
	DeletedReferences    string
	IndividualReferences string

	// Completing and rejecting.
	CompleteMethod    string
	RejectMethod      string
	TransitionAnswer  string
	TransitionRefusal string
	UndecidedChecks   string

	// Reference data and webhooks.
	References      string
	SubscribeFields string
	SubscribeAnswer string
	RetrieveWebhook string
}

// The values other than the default of each switch. The default is "".
const (
	ExpiresInMilliseconds = "milliseconds"
	ExpiresInString       = "string"
	ExpiresInAbsent       = "absent"

	TokenBasicRequired = "required"
	TokenBasicRefused  = "refused"

	IDsString = "string"

	StatusString  = "string"
	StatusInteger = "integer"

	StatusSnake = "snake"
	StatusUpper = "upper"

	WrapData = "data"

	CreateStatus201 = "201"
	CreateStatus202 = "202"

	CreateBodyEmpty = "empty"

	DuplicateUnique     = "unique"
	DuplicateTranslated = "translated"
	DuplicateBeside     = "beside"

	FirstStatePending  = "pending"
	FirstStateDraft    = "draft"
	FirstStateInReview = "in_review"

	SuppressInvite = "invite"

	DeletedReserved = "reserved"

	IndividualReferencesApplication = "application"

	MethodPost = "POST"
	MethodPut  = "PUT"

	TransitionMessage = "message"
	Transition202     = "202"
	Transition204     = "204"

	Refusal409 = "409"

	UndecidedAllow = "allow"

	ReferencesApplicationTypes = "application_types"
	ReferencesMap              = "map"
	ReferencesStringIDs        = "string_ids"
	ReferencesFlat             = "flat"

	SubscribeRenamed = "renamed"

	SubscribeWithoutID = "without_id"
	Subscribe201       = "201"
	Subscribe204       = "204"

	WebhookList    = "list"
	WebhookWrapped = "wrapped"
	Webhook404     = "404"
)

// definition is what is known of one switch. field points at a string, whose
// values are listed with the default first, or at an int of 0 or more.
type definition struct {
	name    string
	meaning string
	values  []string
	field   func(*Dialect) any
}

var switches = []definition{
	{"expiresIn", "the unit and presence of a token's expires_in",
		[]string{"seconds", ExpiresInMilliseconds, ExpiresInString, ExpiresInAbsent},
		func(d *Dialect) any { return &d.ExpiresIn }},
	{"tokenBasic", "whether the token request needs an Authorization header (HTTP Basic with client id and secret)",
		[]string{"ignored", TokenBasicRequired, TokenBasicRefused},
		func(d *Dialect) any { return &d.TokenBasic }},

	{"ids", "how ids are written",
		[]string{"number", IDsString},
		func(d *Dialect) any { return &d.IDs }},
	{"statusShape", "how a status is written",
		[]string{"object", StatusString, StatusInteger},
		func(d *Dialect) any { return &d.StatusShape }},
	{"statusCase", "how the name of a status is spelled",
		[]string{"plain", StatusSnake, StatusUpper},
		func(d *Dialect) any { return &d.StatusCase }},
	{"wrap", "whether answers other than tokens are wrapped in an object",
		[]string{"none", WrapData},
		func(d *Dialect) any { return &d.Wrap }},

	{"createStatus", "the status code of a create",
		[]string{"200", CreateStatus201, CreateStatus202},
		func(d *Dialect) any { return &d.CreateStatus }},
	{"createBody", "whether a create answers with a body",
		[]string{"full", CreateBodyEmpty},
		func(d *Dialect) any { return &d.CreateBody }},
	{"duplicateAnswer", "how a duplicate reference is told: the usual text, other texts, or other members beside it",
		[]string{"exists", DuplicateUnique, DuplicateTranslated, DuplicateBeside},
		func(d *Dialect) any { return &d.DuplicateAnswer }},
	{"firstState", "the state of a new application",
		[]string{"created", FirstStatePending, FirstStateDraft, FirstStateInReview},
		func(d *Dialect) any { return &d.FirstState }},
	{"readLag", "how many retrieves of a new application answer 404 first", nil,
		func(d *Dialect) any { return &d.ReadLag }},
	{"suppress", "what suppress_email_notification suppresses",
		[]string{"all", SuppressInvite},
		func(d *Dialect) any { return &d.Suppress }},
	{"deletedReferences", "whether deletion and expiry free references",
		[]string{"freed", DeletedReserved},
		func(d *Dialect) any { return &d.DeletedReferences }},
	{"individualReferences", "where an individual's reference is unique",
		[]string{"account", IndividualReferencesApplication},
		func(d *Dialect) any { return &d.IndividualReferences }},

	{"completeMethod", "the method of complete",
		[]string{"PATCH", MethodPost, MethodPut},
		func(d *Dialect) any { return &d.CompleteMethod }},
	{"rejectMethod", "the method of reject",
		[]string{"PATCH", MethodPost, MethodPut},
		func(d *Dialect) any { return &d.RejectMethod }},
	{"transitionAnswer", "what complete and reject answer: the application, a message, or 202 or 204 without a body",
		[]string{"application", TransitionMessage, Transition202, Transition204},
		func(d *Dialect) any { return &d.TransitionAnswer }},
	{"transitionRefusal", "the status code of a transition that the state does not allow",
		[]string{"400", Refusal409},
		func(d *Dialect) any { return &d.TransitionRefusal }},
	{"undecidedChecks", "whether checks that wait for a decision block complete",
		[]string{"block", UndecidedAllow},
		func(d *Dialect) any { return &d.UndecidedChecks }},

	{"references", "the shape of the reference data",
		[]string{"lists", ReferencesApplicationTypes, ReferencesMap, ReferencesStringIDs, ReferencesFlat},
		func(d *Dialect) any { return &d.References }},
	{"subscribeFields", "the field names of a subscription: url, events, application_id, or target_url, event_types, mandate_id",
		[]string{"standard", SubscribeRenamed},
		func(d *Dialect) any { return &d.SubscribeFields }},
	{"subscribeAnswer", "what subscribe answers: an object with or without id, 201 with the object, or 204",
		[]string{"object", SubscribeWithoutID, Subscribe201, Subscribe204},
		func(d *Dialect) any { return &d.SubscribeAnswer }},
	{"retrieveWebhook", "what retrieve webhook answers: the newest subscription, a list, a list in an object, or always 404",
		[]string{"object", WebhookList, WebhookWrapped, Webhook404},
		func(d *Dialect) any { return &d.RetrieveWebhook }},
}
