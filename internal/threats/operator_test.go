package threats

const (
	limitsFile  = "internal/client/response_limits.go"
	budgetFile  = "internal/client/budget.go"
	limiterFile = "operator/connection/limiter.go"
)

var theOperator = map[string][]control{
	"services send answers that are small and cost much to read": {
		{
			off: "a response may hold any number of individuals", file: limitsFile,
			old: "	case d.items > maxItems ||", new: "	case ON && d.items > maxItems ||",
			in: inClient, test: "TestResponseLimits",
		},
		{
			off: "a response may be nested deeply, and hold many values", file: "internal/client/response_limits.go",
			old: "	if err := checkSize(r.body); err != nil {", new: "	if err := checkSize(r.body); ON && err != nil {",
			in: inClient, test: "TestResponseLimits",
		},
		{
			off: "raw responses are kept", file: "internal/client/request.go",
			old: "	if r.discardRaw || !json.Valid", new: "	if ON && r.discardRaw || !json.Valid",
			in: inClient, test: "TestRawIsDiscarded",
		},
		{
			off: "one connection may take the whole budget", file: budgetFile,
			old: "share: bytes / 4}", new: "share: pick(ON, bytes/4, bytes)}",
			in: inClient, test: "TestBudgetIsShared",
		},
		{
			off: "whoever asks for much has many places in the queue", file: budgetFile,
			old: "own: semaphore.NewWeighted(b.share)", new: "own: semaphore.NewWeighted(pick(ON, b.share, 1<<40))",
			in: inClient, test: "TestBudgetIsFair",
		},
		{
			off: "a create waits for the budget", file: "internal/client/roundtrip.go",
			old: "	if operation.retry == retrySafe {\n		reader.budget", new: "	if !ON || operation.retry == retrySafe {\n" +
				"		reader.budget",
			in: inClient, test: "TestBudgetHoldsUpLargeReadsOnly",
		},
	},
	"the service sends endless or invalid answers": {
		{
			off: "bodies have no limit", file: "internal/client/body.go",
			old: "		_, err = body.ReadFrom(io.LimitReader(b.response.Body, b.limit+1-int64(body.Len())))\n",
			new: "		_, err = body.ReadFrom(io.LimitReader(b.response.Body, pick(ON, b.limit+1-int64(body.Len()), 1<<40)))\n",
			in:  inClient, test: "TestAnEndlessAnswerIsLeft",
		},
		{
			off: "headers have a high limit", file: "internal/client/transport.go",
			old: "MaxResponseHeaderBytes: 64 << 10,", new: "MaxResponseHeaderBytes: pick[int64](ON, 64<<10, 1<<30),",
			in: inClient, test: "TestHeadersHaveALimit",
		},
	},
	"the service is unavailable or slow": {
		{
			off: "every operation retries", file: "internal/client/request.go",
			old: "c.limits.retries.Allow()", new: "(!ON || c.limits.retries.Allow())",
			in: inClient, test: "TestRetriesHaveABudget",
		},
		{
			off: "a Retry-After holds up one caller", file: "internal/client/limits.go",
			old: "	if l.notBefore.After(now) {", new: "	if ON && l.notBefore.After(now) {",
			in: inClient, test: "TestRetryAfterHoldsEverybody",
		},
		{
			off: "requests have no rate limit", file: "internal/client/limits.go",
			old: "	case c.RequestsPerSecond < 0:", new: "	case !ON || c.RequestsPerSecond < 0:",
			in: inClient, test: "TestRateLimit",
		},
		{
			off: "one connection may take all workers", file: limiterFile,
			old: "	if l.inFlight < l.limit() &&", new: "	if (!ON || l.inFlight < l.limit()) &&",
			in: inConnection, test: "TestLimiterWakesUpUrgentObjectsFirst",
		},
		{
			off: "a service that fails is used as before", file: "operator/connection/breaker.go",
			old: "	case !b.usable || b.state == Open:", new: "	case !b.usable || ON && b.state == Open:",
			in: inConnection, test: "TestLimiterFollowsTheCircuit",
		},
	},
	"the API server or etcd is unavailable for a while": {explored(inMandate, "deposit retried")},
	"an API server with older CRDs drops fields silently": {
		{
			off: "answers are not compared with what was sent", file: "operator/ledger/ledger.go",
			old: "	if got == nil || got.Nonce != attempt.Nonce", new: "	if !ON {\n		return nil\n	}\n" +
				"	if got == nil || got.Nonce != attempt.Nonce",
			in: inLedger, test: "TestOlderCRD",
		},
	},
}
