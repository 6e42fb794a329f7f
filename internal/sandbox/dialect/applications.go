package dialect

// The values other than the default of the switches about creating, reading and keeping applications. The default is "".
const (
	CreateStatus201 = "201"
	CreateStatus202 = "202"
	CreateStatus204 = "204"

	CreateBodyEmpty = "empty"

	FirstStatePending  = "pending"
	FirstStateDraft    = "draft"
	FirstStateAwaiting = "awaiting_individuals"
	FirstStateInReview = "in_review"

	StateNamesDeclined   = "declined"
	StateNamesByReviewer = "rejected_by_reviewer"
	StateNamesOther      = "other"

	SuppressInvite = "invite"

	DeletedReserved        = "reserved"
	DeletedFreedByDeletion = "freed_by_deletion"
	DeletedFreedByExpiry   = "freed_by_expiry"

	ArchivedReferencesFreed = "freed"

	ReferenceCaseIgnored = "ignored"

	IndividualReferencesApplication = "application"

	RetentionLastChange = "last_change"

	ArchivedRetentionLonger = "longer"
)

var applications = []definition{
	{"createStatus", "the status code of a create; 204 has no body",
		[]string{"200", CreateStatus201, CreateStatus202, CreateStatus204},
		func(d *Dialect) any { return &d.CreateStatus }},
	{"createBody", "whether a create answers with a body",
		[]string{"full", CreateBodyEmpty},
		func(d *Dialect) any { return &d.CreateBody }},
	{"firstState", "the state of a new application",
		[]string{"created", FirstStatePending, FirstStateDraft, FirstStateAwaiting, FirstStateInReview},
		func(d *Dialect) any { return &d.FirstState }},
	{"stateNames", "the names of the states in review, completed and rejected: these, declined or rejected by reviewer for the last, or under review, closed and refused",
		[]string{"documented", StateNamesDeclined, StateNamesByReviewer, StateNamesOther},
		func(d *Dialect) any { return &d.StateNames }},
	{"readLag", "how many retrieves of a new application answer 404 first", nil,
		func(d *Dialect) any { return &d.ReadLag }},
	{"suppress", "what suppress_email_notification suppresses",
		[]string{"all", SuppressInvite},
		func(d *Dialect) any { return &d.Suppress }},
	{"deletedReferences", "whether deletion and expiry free references: both do, neither, or only one of them",
		[]string{"freed", DeletedReserved, DeletedFreedByDeletion, DeletedFreedByExpiry},
		func(d *Dialect) any { return &d.DeletedReferences }},
	{"archivedReferences", "whether an archived application still holds its references",
		[]string{"reserved", ArchivedReferencesFreed},
		func(d *Dialect) any { return &d.ArchivedReferences }},
	{"referenceCase", "whether references that differ in letter case only are the same",
		[]string{"exact", ReferenceCaseIgnored},
		func(d *Dialect) any { return &d.ReferenceCase }},
	{"individualReferences", "where an individual's reference is unique",
		[]string{"account", IndividualReferencesApplication},
		func(d *Dialect) any { return &d.IndividualReferences }},
	{"uniquenessGap", "how many milliseconds pass between a create's look for duplicates and its insert; 0 makes them one step, more lets two equal creates both succeed", nil,
		func(d *Dialect) any { return &d.UniquenessGap }},
	{"retentionStart", "when the eight weeks begin",
		[]string{"creation", RetentionLastChange},
		func(d *Dialect) any { return &d.RetentionStart }},
	{"archivedRetention", "whether archived applications are kept longer: a year",
		[]string{"same", ArchivedRetentionLonger},
		func(d *Dialect) any { return &d.ArchivedRetention }},
}
