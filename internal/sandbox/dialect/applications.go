package dialect

// The values other than the default of the switches about creating, reading and keeping applications. The default
// is "".
const (
	CreateStatus201                 = "201"
	CreateBodyEmpty                 = "empty"
	CreateBodyLocation              = "location"
	CreateBodyLocation303           = "location_303"
	CreateBodyList                  = "list"
	CreateBodyJob                   = "job"
	CreateBodyEnvelope              = "envelope"
	CreateBodyNoReference           = "no_reference"
	CreateBodyNullReference         = "null_reference"
	FirstStatePending               = "pending"
	FirstStateDraft                 = "draft"
	FirstStateAwaiting              = "awaiting_individuals"
	FirstStateInReview              = "in_review"
	StateNamesDeclined              = "declined"
	StateNamesByReviewer            = "rejected_by_reviewer"
	StateNamesOther                 = "other"
	StateNamesApproved              = "approved"
	StateNamesGerman                = "german"
	StateNamesCodes                 = "codes"
	ApplicationReferenceHidden      = "hidden"
	GoneStateDeleted                = "state_deleted"
	SuppressInvite                  = "invite"
	DeletedReserved                 = "reserved"
	DeletedFreedByDeletion          = "freed_by_deletion"
	DeletedFreedByExpiry            = "freed_by_expiry"
	ArchivedReferencesFreed         = "freed"
	ReferenceCaseIgnored            = "ignored"
	IndividualReferencesApplication = "application"
	RetentionLastChange             = "last_change"
	ArchivedRetentionLonger         = "longer"
)

var applications = []definition{
	{"createStatus", "the status code of a create; 204 has no body",
		statuses(200, 201, 202, 204)},
	{"createBody", "what the response of a create has: the application, no body, 201 or 303 with only a Location, " +
		"a list of one, 202 with a job that has an id of its own, an envelope that has one, " +
		"or the application without its reference or with null",
		[]string{
			"full", CreateBodyEmpty, CreateBodyLocation, CreateBodyLocation303, CreateBodyList, CreateBodyJob,
			CreateBodyEnvelope, CreateBodyNoReference, CreateBodyNullReference,
		}},
	{"firstState", "the state of a new application",
		[]string{"created", FirstStatePending, FirstStateDraft, FirstStateAwaiting, FirstStateInReview}},
	{"stateNames", "the names of the states: in review, completed, rejected; or declined or rejected by reviewer " +
		"instead of rejected; or under review, closed, refused; or awaiting decision, approved, denied; " +
		"or German words, or codes",
		[]string{
			"documented", StateNamesDeclined, StateNamesByReviewer, StateNamesOther, StateNamesApproved, StateNamesGerman,
			StateNamesCodes,
		}},
	{"readLag", "how many retrieves of a new application get 404", nil},
	{"applicationReference", "whether responses show the reference of an application",
		[]string{"shown", ApplicationReferenceHidden}},
	{"goneAnswer", "the response about what was deleted or has expired: 404, 410, 403, " +
		"or 200 with an application in state deleted",
		append(statuses(404, 410, 403), GoneStateDeleted)},
	{"suppress", "which e-mails suppress_email_notification suppresses: all, or the invites",
		[]string{"all", SuppressInvite}},
	{"deletedReferences", "whether deletion and expiry free references: both, neither, or one of them",
		[]string{"freed", DeletedReserved, DeletedFreedByDeletion, DeletedFreedByExpiry}},
	{"archivedReferences", "whether the references of an archived application stay reserved",
		[]string{"reserved", ArchivedReferencesFreed}},
	{"referenceCase", "whether the letter case of references is significant",
		[]string{"exact", ReferenceCaseIgnored}},
	{"individualReferences", "the scope in which an individual's reference is unique",
		[]string{"account", IndividualReferencesApplication}},
	{"uniquenessGap", "milliseconds between a create's check for duplicates and its insert; " +
		"above 0, two equal creates can both succeed", nil},
	{"retentionStart", "when the retention of eight weeks starts",
		[]string{"creation", RetentionLastChange}},
	{"archivedRetention", "the retention of archived applications: eight weeks, or a year",
		[]string{"same", ArchivedRetentionLonger}},
}
