package threats

const operatorRole = "config/rbac/role.yaml"

var credentials = map[string][]control{
	"an editor of an IdentityService makes the service send notifications to another host, with " +
		"`spec.notifications.url`": {
		{
			off: "a change of the receiver needs no verb", file: "config/policy/connect.yaml",
			old: "(object.spec.?notifications == variables.before.?notifications ? [] : ['spec.notifications'])",
			new: "[]",
			in:  inConfig, test: "TestPolicyOfReceivers",
		},
	},
	"the token of a receiver gets into a status, record, event or log": {
		{
			off: "the log has the URL", file: "operator/mandate/calls.go",
			old: `engine.LogAnswer(logger, a.outcome, nil)`,
			new: `engine.LogAnswer(logger.WithValues("url", pick(ON, "", r.subscriber.url.Reveal())), a.outcome, nil)`,
			in:  inOperator, test: "TestEachApplicationIsSubscribed",
		},
	},
	"a redirect or an answer sends a token to another host": {
		{
			off: "redirects are followed", file: "internal/client/exchange.go",
			old: "	response, err := transport.RoundTrip(r)",
			new: "	following := &http.Client{Transport: transport}\n" +
				"	response, err := pick(ON, transport.RoundTrip, following.Do)(r)",
			in: inClient, test: "TestRedirectsAreNotFollowed",
		},
		{
			off: "http goes to other hosts", file: "internal/client/url.go",
			old: `(u.Scheme != "http" || !IsLoopback(u.Hostname())):`,
			new: `(u.Scheme != "http" || ON && !IsLoopback(u.Hostname())):`,
			in:  inClient, test: "TestConfigurationErrors",
		},
		{
			off: "TLS 1.0 is spoken", file: "internal/client/transport.go",
			old: "MinVersion: tls.VersionTLS12,", new: "MinVersion: pick[uint16](ON, tls.VersionTLS12, tls.VersionTLS10),",
			in: inClient, test: "TestOldTLSIsRefused",
		},
	},
	"an editor of an IdentityService sends the credentials of a Secret to another host, or probes hosts inside the " +
		"cluster": {
		{
			off: "a pattern allows every host", file: "operator/service/hosts.go",
			old: "	if p.host == anyHost || p.host == host {", new: "	if !ON || p.host == anyHost || p.host == host {",
			in: inService, test: "TestURLPolicy",
		},
		{
			off: "hosts are not looked at", file: "operator/service/connect.go",
			old: "	if !r.config.URLs.Allows(", new: "	if ON && !r.config.URLs.Allows(",
			in: inService, test: "TestBaseURLNotAllowed",
		},
	},
	"an editor of a Mandate or an IdentityService, who may not read Secrets, has the operator send one to a service": {
		{
			off: "a Secret is for everything", file: "operator/secrets/secrets.go",
			old: "	if !isFor(&secret, use) {", new: "	if ON && !isFor(&secret, use) {",
			in: inSecrets, test: "TestGet",
		},
	},
	"a tenant with a short interval, a high rate and a fake service keeps the operator and the API server busy": {
		{
			off: "no ceiling", file: "operator/service/connect.go",
			old: "	if ceiling := r.config.MaxRequestsPerSecond; ceiling > 0 {",
			new: "	if ceiling := r.config.MaxRequestsPerSecond; ON && ceiling > 0 {",
			in:  inService, test: "TestCeilings",
		},
		{
			off: "polls write as they like", file: "operator/mandate/reconciliation.go",
			old: "	if delay == 0 || r.urgent() {", new: "	if !ON || delay == 0 || r.urgent() {",
			in: inMandate, test: "TestPollsYieldToOtherNamespaces",
		},
	},
	"the operator is used to read other Secrets": {
		{
			off: "the operator watches Secrets", file: operatorRole,
			old: "  - secrets\n  verbs:\n  - get\n", new: "  - secrets\n  verbs:\n  - get\n  - watch\n",
			in: inConfig, test: "TestStolenToken",
		},
	},
	"services that never answer prevent the operator from noticing new credentials": {
		{
			off: "a probe holds its worker", file: "operator/service/probe.go",
			old: "	go func() {\n		defer cancel()\n		p.references, p.err = client.RetrieveReferences(ctx)\n" +
				"		p.permitted = idv.IsForbidden(p.err) && mayRead(ctx, client)\n		close(p.done)\n		r.enqueue(key)\n	}()\n",
			new: "	begin := pick(ON, func(f func()) { go f() }, func(f func()) { f() })\n	begin(func() {\n		defer cancel()\n" +
				"		p.references, p.err = client.RetrieveReferences(ctx)\n" +
				"		p.permitted = idv.IsForbidden(p.err) && mayRead(ctx, client)\n		close(p.done)\n		r.enqueue(key)\n	})\n",
			in: inService, test: "TestProbeHoldsNoWorker",
		},
	},
	"a namespace uses a shared connection that does not select it": {
		{
			off: "a selector selects every namespace", file: "operator/connection/service.go",
			old: "	if !selector.Matches(", new: "	if ON && !selector.Matches(",
			in: inConnection, test: "TestNamespaceSelectors",
		},
		{
			off: "an invalid selector selects every namespace", file: "operator/connection/service.go",
			old: "		return service, Denied, nil //", new: "		return service, pick(ON, Denied, Granted), nil //",
			in: inConnection, test: "TestNamespaceSelectors",
		},
		{
			off: "labels are not read past the cache", file: "operator/engine/service.go",
			old: "	if err != nil || access != connection.Granted {",
			new: "	if err != nil || ON && access != connection.Granted {",
			in:  inMandate, test: "TestNamespaceWithdrawn",
		},
		{
			off: "the service is not read past the cache before a call", file: "operator/mandate/calls.go",
			old: "	same = same && err == nil && r.isCurrent(live)",
			new: "	same = (same || !ON) && err == nil && r.isCurrent(live)",
			in:  inMandate, test: "TestNamespaceWithdrawn",
		},
	},
	"the operator retries a refused password until the account is locked": {
		{
			off: "callers do not share a login", file: "internal/client/token.go",
			old: "s.logins.DoChan(", new: "pick(ON, &s.logins, new(singleflight.Group)).DoChan(",
			in: inClient, test: "TestCallersShareALogin",
		},
		{
			off: "a refused login is repeated at once", file: "internal/client/token.go",
			old: "	if wait <= 0 {\n		return nil", new: "	if !ON || wait <= 0 {\n		return nil",
			in: inClient, test: "TestRefusedCredentialsAreHeldOff",
		},
		{
			off: "an edit makes the operator forget a refusal", file: "operator/service/connect.go",
			old: "	config.Limits = r.limitsOf(wanted.user)", new: "	config.Limits = pick(ON, r.limitsOf(wanted.user), nil)",
			in: inService, test: "TestHoldOffOutlivesTheClient",
		},
	},
	"credentials appear in logs or errors": {
		{
			off: "a secret marshals itself", file: asSensitive,
			old: "return []byte(redacted), nil }", new: "return []byte(pick(ON, redacted, fmt.Sprint(s.Reveal()))), nil }",
			in: inClient, test: "TestNothingSensitiveIsPrinted",
		},
	},
}
