package threats

const (
	recordCRD    = "config/crd/bases/idv.mandate.io_applicationrecords.yaml"
	recordPolicy = "config/admission/record.yaml"
)

var invitation = map[string][]control{
	"the operator or its machine stops during a create": {
		explored(inMandate, "claim"), explored(inMandate, "settle delay"), explored(inMandate, "requests are counted on"),
	},
	"an answer is lost or unreadable": {
		explored(inMandate, "another reference"), explored(inMandate, "another URL"),
		{
			off: "what a server may have seen counts as not sent", file: "internal/client/exchange.go",
			old: "!wroteHeaders.Load() &&", new: "!(ON && wroteHeaders.Load()) &&",
			in: inClient, test: "TestABrokenAnswerIsUnknown",
		},
		{
			off: "a create is retried", file: "internal/client/chain.go",
			old: "	switch of {\n	case effectNone:\n",
			new: "	switch pick(ON || of != effectCreate, of, effectNone) {\n	case effectNone:\n",
			in:  inClient, test: "TestWhatEmailsIsSentOnce",
		},
	},
	"two operators run at once, one of them paused for a while": {
		explored(inMandate, "claim"), explored(inMandate, "begin"),
		explored(inAction, "call begun once"), explored(inAction, "last look at the record"),
		{
			off: "the answer to one request ends another", file: "operator/ledger/calls.go",
			old: "testOperation(fmt.Sprintf(\"/spec/calls/%d/nonce\", i), call.Nonce),",
			new: "testOperation(pick(ON, fmt.Sprintf(\"/spec/calls/%d/nonce\", i), \"/metadata/name\"), " +
				"pick(ON, call.Nonce, record.Name)),",
			in: inLedger, test: "TestLost",
		},
	},
	"a Mandate is deleted and applied again, replaced by force, or copied": {
		explored(inMandate, "another reference"), explored(inMandate, "edited after a refusal"),
	},
	"a cluster is restored from a backup, or rebuilt from manifests": {
		explored(inMandate, "createBefore"), explored(inMandate, "taken is final"),
	},
	"a tool restores records that are older than a create or an action": {
		explored(inMandate, "restored record"), explored(inAction, "restored record"),
		{
			off: "a person without the verb says that a record lacks nothing", file: adoptPolicy,
			old: "variables.complete == variables.completeBefore ||", new: "1 == 1 ||",
			in: inConfig, test: "TestPolicyOfAdoption",
		},
	},
	"a namespace is deleted during creates": {
		{
			off: "an id that the ledger cannot take is dropped", file: "operator/mandate/create.go",
			old: "		if err = r.depositInMandate(ctx); err == nil {", new: "		if !ON {\n			return nil\n		}\n" +
				"		if err = r.depositInMandate(ctx); err == nil {",
			in: inMandate, test: "TestIDInATerminatingNamespace",
		},
	},
	"somebody edits a record, so that a call looks as if it was never sent": {
		{
			off: "a record may lose a call", file: recordCRD,
			old: "rule: '!has(oldSelf.calls) || ", new: "rule: 'true || !has(oldSelf.calls) || ",
			in: inAPI, test: "TestUpdate",
		},
		{
			off: "what was done may become undone", file: recordCRD,
			old: "'!has(oldSelf.result) || !(oldSelf.result in", new: "'true || !has(oldSelf.result) || !(oldSelf.result in",
			in: inAPI, test: "TestUpdate",
		},
	},
	"records are deleted, by hand or with their namespace": {
		{
			off: "a Mandate without a record is new, whatever its status says", file: "operator/mandate/decide_create.go",
			old: "	case f.create.unknown && !r.exists():", new: "	case ON && f.create.unknown && !r.exists():",
			in: inMandate, test: "TestDecide",
		},
	},
	"somebody with every verb in a namespace forges a status or a record, to decide about an application of another " +
		"namespace or delete it, or deletes a record": {
		{
			off: "a RoleBinding grants the verb record", file: recordPolicy,
			old: ".check('record')", new: ".namespace(request.namespace).check('record')",
			in: inConfig, test: "TestOnlyTheOperatorWritesRecords",
		},
		{
			off: "a status needs no verb", file: recordPolicy,
			old: `[applicationrecords, "*/status"]`, new: "[applicationrecords]",
			in: inConfig, test: "TestOnlyTheOperatorWritesRecords",
		},
		{
			off: "the garbage collector may write anything", file: recordPolicy,
			old: "      variables.mayRecord\n", new: "      variables.mayRecord || variables.byCollector\n",
			in: inConfig, test: "TestRecordPolicyLeavesControllersAlone",
		},
	},
	"a Mandate is replaced by one for other people": {
		explored(inMandate, "spec of a new object"), explored(inMandate, "application of another spec"),
		{
			off: "an adoption that may be left over overrides differences", file: "operator/mandate/spec.go",
			old: "	return !r.isAdopted() || !ptr.", new: "	return !r.isAdopted() || ON && !ptr.",
			in: inMandate, test: "TestNewObject",
		},
	},
	"an action or a review reaches another individual than the spec names": {
		explored(inMandate, "individuals are compared"), explored(inMandate, "review while individuals are unmatched"),
		{
			off: "an individual with another reference is matched", file: "operator/individuals/match.go",
			old: `(sent == "" || shown == "" || sent == shown)`, new: `(!ON || sent == "" || shown == "" || sent == shown)`,
			in: inIndividual, test: "TestMatch",
		},
	},
	"somebody binds a Mandate to another Mandate's application": {
		explored(inMandate, "adopted reference"), explored(inMandate, "adopted by another"),
	},
	"a namespace of a ClusterIdentityService takes over the application of another one with its reference and a " +
		"guessed id, or takes its reference first": {
		explored(inMandate, "reference of another namespace"), explored(inMandate, "adopted in another namespace"),
		explored(inMandate, "adoption of another namespace's reference"),
		explored(inMandate, "unknown in another namespace"),
	},
	"a stalled watch hides that a user withdrew a decision, a review, an archiving or a deletion": {
		explored(inMandate, "live read before a call"), explored(inMandate, "verify what orders the call"),
		explored(inMandate, "the IdentityService before a call"), explored(inMandate, "one call a reconciliation"),
	},
	"a Secret gets the credentials of another account: there, the reference of a lost create is free, and an id may be " +
		"another person's": {
		explored(inMandate, "a lost create in another account"), explored(inMandate, "a call in another account"),
		explored(inMandate, "404 to another account"),
	},
	"an application vanishes, or a proxy says 404": {
		explored(inMandate, "404"),
		explored(inMandate, "404 of another service"),
	},
	"something in between answers with a status of its own after the service has done the work": {{
		off: "any 403 says that nothing was done", file: "internal/client/proof.go",
		old: "	{everything, \"401 403\", bodyEnough, Forbidden, KindForbidden},\n",
		new: "	{everything, \"403\", pick(ON, bodyEnough, bodyAny), Forbidden, KindForbidden},\n" +
			"	{everything, \"401 403\", bodyEnough, Forbidden, KindForbidden},\n",
		in: inClient, test: "TestProofsAreAsDesigned",
	}},
	"an action is repeated after a crash": {
		explored(inAction, "open call"), explored(inAction, "unknown outcome"),
	},
	"an action is deleted, cleaned up or restored, and applied again": {
		explored(inAction, "name used"), explored(inAction, "call begun"), explored(inAction, "call begun once"),
	},
	"an action acts on a Mandate that was suspended or replaced meanwhile, or at a service that was exchanged": {
		explored(inAction, "last look"), explored(inAction, "last look compares"), explored(inAction, "suspended"),
		explored(inAction, "last look at the service"), explored(inAction, "last look before a report"),
	},
}
