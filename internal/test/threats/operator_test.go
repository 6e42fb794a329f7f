package threats

const (
	limitsFile = "internal/client/wire/limits.go"
	budgetFile = "operator/connection/budget.go"
	deployment = "config/manager/deployment.yaml"

	operatorPolicy = "config/admission/operator.yaml"
)

var theOperator = map[string][]control{
	"services send answers that are small and cost much to read": {
		{
			off: "the Go runtime does not know the memory limit", file: deployment,
			old: "        - name: GOMEMLIMIT\n", new: "        - name: NO_LIMIT\n",
			in: inConfig, test: "TestMemoryLimitOfTheRuntime",
		},
		{
			off: "a response may hold any number of individuals", file: limitsFile,
			old: "objects > maxObjects {", new: "ON && objects > maxObjects {",
			in: inWire, test: "TestLimits",
		},
		{
			off: "a response may be nested deeply", file: limitsFile,
			old: "			if depth > maxDepth {\n", new: "			if depth = min(depth, pick(ON, depth, maxDepth)); depth > maxDepth {\n",
			in: inClient, test: "TestResponseLimits",
		},
		{
			off: "raw responses are kept", file: "internal/client/answer.go",
			old: "	if a.discardRaw || !json.Valid", new: "	if ON && a.discardRaw || !json.Valid",
			in: inClient, test: "TestRawIsDiscarded",
		},
		{
			off: "one connection may take the whole budget", file: budgetFile,
			old: "share: bytes / 4}", new: "share: pick(ON, bytes/4, bytes)}",
			in: inConnection, test: "TestBudgetIsShared",
		},
		{
			off: "a client that asks for much has many places in the queue", file: budgetFile,
			old: "own: semaphore.NewWeighted(b.share)", new: "own: semaphore.NewWeighted(pick(ON, b.share, 1<<40))",
			in: inConnection, test: "TestBudgetIsFair",
		},
		{
			off: "a create waits for the budget", file: budgetFile,
			old: "	if err != nil || r.Method != http.MethodGet ||", new: "	if err != nil || ON && r.Method != http.MethodGet ||",
			in: inConnection, test: "TestBudgetHoldsUpLargeReadsOnly",
		},
	},
	"the service sends endless or invalid answers": {
		{
			off: "bodies have no limit", file: "internal/client/answer.go",
			old: "		_, err = read.ReadFrom(io.LimitReader(a.Body, limit+1-int64(read.Len())))\n",
			new: "		_, err = read.ReadFrom(io.LimitReader(a.Body, pick(ON, limit+1-int64(read.Len()), 1<<40)))\n",
			in:  inClient, test: "TestAnEndlessAnswerIsLeft",
		},
		{
			off: "headers have a high limit", file: "internal/client/transport.go",
			old: "MaxResponseHeaderBytes: 64 << 10,", new: "MaxResponseHeaderBytes: pick[int64](ON, 64<<10, 1<<30),",
			in: inClient, test: "TestHeadersHaveALimit",
		},
		{
			off: "a response may begin as late as the operation ends", file: "internal/client/transport.go",
			old: "c.RequestTimeout / maxAttempts,", new: "pick(ON, c.RequestTimeout/maxAttempts, 0),",
			in: inClient, test: "TestASilentServerLeavesTimeForAnotherAttempt",
		},
		{
			off: "a large response may take as long as the operation", file: budgetFile,
			old: "		b.timer = time.AfterFunc(largeBodyTime,",
			new: "		b.timer = time.AfterFunc(pick(ON, largeBodyTime, time.Hour),",
			in:  inConnection, test: "TestASlowLargeBodyIsLeft",
		},
		{
			off: "a body above the limit is used", file: "internal/client/answer.go",
			old: "	case int64(read.Len()) > limit:", new: "	case ON && int64(read.Len()) > limit:",
			in: inClient, test: "TestAnEndlessAnswerIsLeft",
		},
	},
	"the service is unavailable": {
		{
			off: "every operation retries", file: "internal/client/chain.go",
			old: "!t.client.limits.retries.Allow()", new: "ON && !t.client.limits.retries.Allow()",
			in: inClient, test: "TestRetriesHaveABudget",
		},
		{
			off: "a Retry-After holds up one caller", file: "internal/client/limits.go",
			old: "	if l.notBefore.After(now) {", new: "	if ON && l.notBefore.After(now) {",
			in: inClient, test: "TestRetryAfterHoldsEverybody",
		},
		{
			off: "requests have no rate limit", file: "internal/client/limits.go",
			old: "	if c.RequestsPerSecond < 0 {", new: "	if !ON || c.RequestsPerSecond < 0 {",
			in: inClient, test: "TestRateLimit",
		},
		{
			off: "a service that fails is used as before", file: "operator/connection/breaker.go",
			old: "	case !b.usable || b.state == Open:", new: "	case !b.usable || ON && b.state == Open:",
			in: inConnection, test: "TestLimiterFollowsTheCircuit",
		},
	},
	"a hostile service answers as slowly as possible, or never": {
		{
			off: "a slow answer counts as a success", file: "operator/connection/class.go",
			old: "	case result.Slowest > slow:", new: "	case ON && result.Slowest > slow:",
			in: inConnection, test: "TestClassify",
		},
		{
			off: "a namespace may take all workers", file: "operator/connection/limiter.go",
			old: "	if !l.limiters.pool.admits(w) {", new: "	if ON && !l.limiters.pool.admits(w) {",
			in: inConnection, test: "TestNamespaceHasItsShareOfThePool",
		},
		{
			off: "a reconciliation has no deadline", file: "operator/engine/loop.go",
			old: "	return context.WithTimeout(ctx, max(",
			new: "	return context.WithTimeout(ctx, max(pick[time.Duration](ON, 0, 1<<50), ",
			in:  inEngine, test: "TestDeadline",
		},
	},
	"a tenant asks again and again for what the account may not do": {{
		off: "what is forbidden once counts as wrong credentials", file: "operator/connection/class.go",
		old: "		return class, forbidden\n", new: "		return class, pick(ON, forbidden, failed)\n",
		in: inConnection, test: "TestOneForbiddenThingStopsNobody",
	}},
	"a namespace uses up a connection that several share": {
		{
			off: "a namespace is served until nothing is left", file: "operator/connection/fairqueue.go",
			old: "			q.flows = append(slices.Delete(q.flows, i, i+1), next)\n",
			new: "			if ON {\n				q.flows = append(slices.Delete(q.flows, i, i+1), next)\n			}\n",
			in:  inConnection, test: "TestQueueServesNamespacesRoundRobin",
		},
		{
			off: "a namespace may use every slot", file: "operator/connection/shares.go",
			old: "		return used == 0 || s.weight*used < free", new: "		return used == 0 || !ON || s.weight*used < free",
			in: inConnection, test: "TestSharesLeaveSome",
		},
	},
	"the cache no longer follows the cluster, and nobody notices": {
		{
			off: "a watch is always readable", file: "operator/watches.go",
			old: "		if !state.open && ", new: "		if ON && !state.open && ",
			in: inOperator, test: "TestWatches",
		},
	},
	"a tenant stores an object that Go cannot decode, and so stops the lists and watches of its kind in all namespaces": {
		{
			off: "what was decoded in part counts as complete", file: "operator/apierror/apierror.go",
			old: "	if fields := tolerant.UnreadableFields(object); len(fields) > 0 {",
			new: "	if fields := tolerant.UnreadableFields(object); ON && len(fields) > 0 {",
			in:  inLedger, test: "TestUnreadableRecord",
		},
	},
	"somebody runs a service that answers with an id, so that nobody else can adopt this id": {
		{
			off: "records of other services count in other namespaces", file: "operator/ledger/holder.go",
			old: `client.MatchingFields{"spec.applicationID": id, "spec.serviceURL": spec.ServiceURL})`,
			new: `pick(ON, client.MatchingFields{"spec.applicationID": id, "spec.serviceURL": spec.ServiceURL}, ` +
				`client.MatchingFields{"spec.applicationID": id}))`,
			in: inLedger, test: "TestHeldByOther",
		},
	},
	"an answer makes a status that the API server refuses": {
		{
			off: "a status shows everything", file: "operator/engine/text.go",
			old: "	if n > b.left {", new: "	if ON && n > b.left {",
			in: inMandate, test: "TestStatusIsBounded",
		},
	},
	"anybody who reaches the operator reads its metrics or profiles": {
		{
			off: "profiles are served on every address", file: "operator/options.go",
			old: "	if address := o.pprofBindAddress; isServed", new: "	if address := o.pprofBindAddress; ON && isServed",
			in: inOperator, test: "TestFlags",
		},
	},
	"texts of a service control the terminal of a reader, or look like other texts": {
		{
			off: "texts are shown as they are", file: "operator/engine/text.go",
			old: "return printable.Cut(text, maxText)", new: "return pick(ON, printable.Cut(text, maxText), text)",
			in: inMandate, test: "TestStatusIsPrintable",
		},
	},
	"texts of a tenant control the terminal of who runs the plugin, or imitate its output": {
		{
			off: "the plugin writes what a terminal obeys", file: "plugin/terminal.go",
			old: "return lineParts.ReplaceAllStringFunc(text, printable.Text)",
			new: "return pick(ON, lineParts.ReplaceAllStringFunc(text, printable.Text), text)",
			in:  inPlugin, test: "TestTerminalShowsTextOnly",
		},
		{
			off: "texts of objects have several lines", file: "plugin/view.go",
			old: "	f = f.printable()\n", new: "	if ON {\n		f = f.printable()\n	}\n",
			in: inPlugin, test: "TestPrintableOutput",
		},
		{
			off: "texts of errors have several lines", file: "plugin/apierror.go",
			old: "return printableLine(e.error.Error())",
			new: "return pick(ON, printableLine(e.error.Error()), e.error.Error())",
			in:  inPlugin, test: "TestPrintableOutput",
		},
	},
	"annotations, labels and texts fill the operator's cache": {
		{
			off: "the cache holds labels", file: "operator/cache.go",
			old: "		metadata.SetLabels(nil)\n", new: "		if ON {\n			metadata.SetLabels(nil)\n		}\n",
			in: inOperator, test: "TestCacheHasLittleMetadata",
		},
	},
	"somebody steals the ServiceAccount token": {
		{
			off: "the operator lists Secrets", file: operatorRole,
			old: "  - secrets\n  verbs:\n  - get\n", new: "  - secrets\n  verbs:\n  - get\n  - list\n",
			in: inConfig, test: "TestStolenToken",
		},
	},
	"somebody steals the ServiceAccount token, and `config/reports` is applied": {
		{
			off: "the account may create Secrets that are no reports", file: "config/reports/policy.yaml",
			old: "validationActions: [Deny]", new: "validationActions: [Audit]",
			in: inConfig, test: "TestReports",
		},
	},
	"somebody controls the receiver of notifications, which the internet can reach": {
		{
			off: "the policy does not know the receiver", file: operatorPolicy,
			old: "      || authorizer.requestResource.check('notify').allowed()\n", new: "",
			in: inConfig, test: "TestReceiverChangesTwoAnnotations",
		},
		{
			off: "the receiver may do what the operator may", file: operatorPolicy,
			old: "      size(variables.ofOperator) == 0\n", new: "      true\n",
			in: inConfig, test: "TestReceiverChangesTwoAnnotations",
		},
		{
			off: "the receiver may read Secrets", file: "config/rbac/receiver_role.yaml",
			old: "  verbs: [get, list, watch, patch, notify]\n",
			new: "  verbs: [get, list, watch, patch, notify]\n- apiGroups: [\"\"]\n  resources: [secrets]\n  verbs: [get]\n",
			in:  inConfig, test: "TestReceiverChangesTwoAnnotations",
		},
	},
	"somebody who has the token, or controls the receiver of notifications, orders something in the name of a user, " +
		"such as a decision, an adoption, or the end of a suspension": {
		{
			off: "the account changes specs", file: operatorPolicy,
			old: "(object.spec == oldObject.spec || variables.erased ? ", new: "(true ? ",
			in: inConfig, test: "TestOperatorChangesItsMetadataOnly",
		},
		{
			off: "the account removes annotations of others", file: operatorPolicy,
			old: " && variables.noneRemoved", new: "",
			in: inConfig, test: "TestOperatorChangesItsMetadataOnly",
		},
		{
			off: "an operator with RoleBindings is not limited", file: operatorPolicy,
			old: ".resource('applicationrecords').check('record').allowed()\n      || authorizer.requestResource",
			new: ".resource('mandates').check('patch').allowed()\n      || authorizer.requestResource",
			in:  inConfig, test: "TestOperatorChangesItsMetadataOnly",
		},
	},
	"an attacker breaks out of the Pod": {
		{
			off: "the root file system is not read-only", file: deployment,
			old: "          readOnlyRootFilesystem: true\n", new: "",
			in: inConfig, test: "TestPodIsRestricted",
		},
		{
			off: "the group is that of the container runtime", file: deployment,
			old: "        runAsGroup: 65532 #", new: "        #",
			in: inConfig, test: "TestPodIsRestricted",
		},
	},
	"the API server or etcd is unavailable for a while": {explored(inMandate, "deposit retried")},
	"an API server with older CRDs drops fields silently": {
		{
			off: "answers are not compared with what was sent", file: "operator/ledger/calls.go",
			old: "	if got == nil || !equality", new: "	if !ON {\n		return nil\n	}\n	if got == nil || !equality",
			in: inLedger, test: "TestOlderCRD",
		},
	},
}
