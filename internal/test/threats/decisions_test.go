package threats

const (
	policy      = "config/policy/decide.yaml"
	adoptPolicy = "config/policy/adopt.yaml"

	authorPolicy = "config/policy/requested_by.yaml"
)

var decisions = map[string][]control{
	"anybody who may edit a Mandate decides about people": {
		{
			off: "a decision needs no verb", file: policy,
			old: "object.spec.?decision == variables.before.?decision || variables.mayDecide", new: "1 == 1",
			in: inConfig, test: "TestPolicy",
		},
	},
	"an editor makes a Mandate adopt an application of somebody else, to get its reports, or to decide about it or " +
		"delete it": {
		{
			off: "an adoption needs no verb", file: adoptPolicy,
			old: "validationActions: [Deny]", new: "validationActions: [Audit]",
			in: inConfig, test: "TestPolicyOfAdoption",
		},
	},
	"an editor sends the credentials of a Secret to another host, or fakes outcomes with a service of their own": {
		{
			off: "a change of the connection needs no verb", file: "config/policy/connect.yaml",
			old: "validationActions: [Deny]", new: "validationActions: [Audit]",
			in: inConfig, test: "TestPolicyOfConnections",
		},
	},
	"an editor releases a decision, review, archiving, adoption or action that somebody holds back with `suspend`": {
		{
			off: "the end of a suspension needs no verb", file: policy,
			old: "!variables.resumed || !variables.ordered || variables.mayDecide", new: "1 == 1",
			in: inConfig, test: "TestPolicyOfSuspension",
		},
		{
			off: "a suspended adoption continues without the verb", file: adoptPolicy,
			old: "      || !variables.before.?suspend.orValue(false) || object.spec.?suspend.orValue(false)\n",
			new: "      || true\n",
			in:  inConfig, test: "TestPolicyOfAdoption",
		},
	},
	"an editor removes an adoption, so that the operator creates another application": {
		{
			off: "the removal of an adoption needs no verb", file: adoptPolicy,
			old: "!object.spec.?adopt.hasValue() && !variables.before.?adopt.hasValue()",
			new: "!object.spec.?adopt.hasValue()",
			in:  inConfig, test: "TestPolicyOfAdoption",
		},
	},
	"an editor says that a create without an answer created nothing, so that the operator e-mails again": {
		{
			off: "a person's word about a create needs no verb", file: adoptPolicy,
			old: "|| !variables.notCreated.hasValue() || variables.mayAdopt", new: "|| true",
			in: inConfig, test: "TestPolicyOfAdoption",
		},
		{
			off: "a person's word is about any create", file: "operator/mandate/records.go",
			old: "&& ledger.EndOf(create) == notCreated",
			new: "&& (ledger.EndOf(create) == notCreated || !ON && notCreated != \"\")",
			in:  inOperator, test: "TestCreateAfterOneThatCreatedNothing",
		},
	},
	"an editor puts other people, another type or another service under a decision, before the application exists": {
		{
			off: "people change under a decision", file: policy,
			old: " || size(variables.redescribed) == 0", new: " || true",
			in: inConfig, test: "TestPolicyKeepsWhatIsDecidedAbout",
		},
	},
	`an editor of an IdentityService gives "in review" the meaning of completed, and so makes outcomes`: {
		{
			off: "configured names come first", file: "internal/lifecycle/lifecycle.go",
			old: "	folded := wire.FoldName(s.Name)\n	switch {\n",
			new: "	folded := wire.FoldName(s.Name)\n	switch {\n	case !ON && s.Is(n.Completed...):\n		return Completed\n",
			in:  "internal/lifecycle", test: "TestStages",
		},
	},
	"a review accepts a check that nobody has seen, because the status has no room for it": {
		{
			off: "a review by name reaches a check with other evidence", file: "operator/mandate/act.go",
			old: "		case !current:", new: "		case !current && (ON || check == nil):",
			in: inMandate, test: "TestPendingReviews",
		},
	},
	"a decision is carried out about other checks than its author has seen, because they have changed or were reset": {
		explored(inMandate, "decision on evidence"), explored(inMandate, "decision by a rule"),
		{
			off: "a decision is sent after a slow begin", file: "operator/mandate/calls.go",
			old: "&& r.showsStill(ctx)", new: "&& (!ON || r.showsStill(ctx))",
			in: inOperator, test: "TestDecisionThatIsRecordedSlowly",
		},
	},
	"a review is carried out on another check than its author has seen, because the individual was reset": {
		explored(inMandate, "review on evidence"), explored(inMandate, "review carried out"),
	},
	"after a change of the connection, a decision reaches another application than intended": {
		explored(inMandate, "application of another"), explored(inMandate, "application of another URL"),
		explored(inMandate, "request for another service"), explored(inAction, "the ledger of the application"),
	},
	"a decision, a review, an archiving or a deletion is repeated after a crash or a lost answer": {
		explored(inMandate, "begin before send"), explored(inMandate, "one call at a time"),
		explored(inMandate, "decision whose answer was lost"),
	},
	"a deletion is never carried out, or blocks the namespace": {
		{
			off: "a deletion waits for ever", file: "operator/mandate/decide_act.go",
			old: "f.observe.vanished || !f.now.Before(d.giveUpTime)):",
			new: "f.observe.vanished || ON && !f.now.Before(d.giveUpTime)):",
			in:  inMandate, test: "TestDecide",
		},
		{
			off: "a Mandate goes although its application stays", file: "operator/mandate/decide_act.go",
			old: "== \"\" && d.wantsFinalizer() != d.finalizer:",
			new: "== \"\" && ON && d.wantsFinalizer() != d.finalizer:",
			in:  inMandate, test: "TestDecide",
		},
	},
	"somebody orders something in the name of another user": {
		{
			off: "the name of the author is not compared", file: authorPolicy,
			old: "|| variables.author.value() == request.userInfo.username\n    reason", new: "|| true\n    reason",
			in: inConfig, test: "TestPolicyOfAuthors",
		},
		{
			off: "a decision has the name of who came before", file: authorPolicy,
			old: "|| size(variables.ordered) == 0", new: "|| true",
			in: inConfig, test: "TestPolicyOfAuthors",
		},
	},
	"nobody can tell what was done": {
		explored(inMandate, "log of a call"), explored(inAction, "log of an action"),
	},
}
