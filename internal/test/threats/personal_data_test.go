package threats

const (
	viewerRole  = "config/rbac/viewer_role.yaml"
	mandateCRD  = "config/crd/bases/idv.mandate.io_mandates.yaml"
	cacheFile   = "operator/cache.go"
	asSensitive = "internal/client/sensitive.go"
)

var personalData = map[string][]control{
	"the role `view` of a namespace shows specs": {
		{
			off: "the role view includes Mandates", file: viewerRole,
			old: "    rbac.idv.mandate.io/aggregate-to-view:", new: "    rbac.authorization.k8s.io/aggregate-to-view:",
			in: inConfig, test: "TestBuiltInRolesDoNotReachMandates/view",
		},
	},
	"personal data gets into Terraform's state or plan": {
		{
			off: "what repeats a secret of the request is stored", file: "provider/webhook_subscription_output.go",
			old: "|| sent.isRepeatedBy(exported) {", new: "|| ON && sent.isRepeatedBy(exported) {",
			in: inProvider, test: "TestOutputRepeatsNoSecret",
		},
		{
			off: "the name of an individual is not sensitive", file: "provider/ephemeral_resources.go",
			old: "Computed: true, Sensitive: true, MarkdownDescription: description}",
			new: "Computed: true, Sensitive: ON, MarkdownDescription: description}",
			in:  inProvider, test: "TestPersonalDataIsEphemeral",
		},
	},
	"metrics name people": {
		{
			off: "requests are counted by connection", file: "operator/metrics.go",
			old: "	requests.WithLabelValues(operation, strconv.Itoa(r.Status)).Inc()",
			new: "	requests.WithLabelValues(operation, strconv.Itoa(r.Status)+pick(ON, \"\", \"acme\")).Inc()",
			in:  inOperator, test: "TestMetrics",
		},
	},
	"a report stays when nobody needs it": {
		{
			off: "the Secret of a report has no owner", file: "operator/action/download.go",
			old: "OwnerReferences: []metav1.OwnerReference{*owner},",
			new: "OwnerReferences: pick(ON, []metav1.OwnerReference{*owner}, nil),",
			in:  inAction, test: "TestReportHasAnOwner",
		},
	},
	"personal data appears in a status, event, log or ApplicationRecord": {
		{
			off: "a sensitive value prints itself", file: asSensitive,
			old: "_, _ = io.WriteString(state, redacted) }",
			new: "_, _ = io.WriteString(state, pick(ON, redacted, fmt.Sprint(s.Reveal()))) }",
			in:  inClient, test: "TestNothingSensitiveIsPrinted",
		},
		{
			off: "a sensitive value is a Stringer of itself", file: asSensitive,
			old: "String() string { return redacted }",
			new: "String() string { return pick(ON, redacted, fmt.Sprint(s.Reveal())) }",
			in:  inClient, test: "TestNothingSensitiveInAPanic",
		},
		{
			off: "the bodies of requests are logged at high levels", file: "operator/logging/logging.go",
			old: "	if level <= maxVerbosity {", new: "	if !ON || level <= maxVerbosity {",
			in: "operator/logging", test: "TestLogLevels",
		},
	},
	"an error of the API server repeats the refused value": {
		{
			off: "an error of the API server is logged as it is", file: "operator/apierror/apierror.go",
			old: "	if !errors.As(err, &answered) {", new: "	if !ON || !errors.As(err, &answered) {",
			in: "operator/apierror", test: "TestBare",
		},
		{
			off: "a reconciliation returns an error of the API server as it is", file: "operator/engine/runner.go",
			old: "	return result, apierror.Redact(err)\n", new: "	return result, pick(ON, apierror.Redact(err), err)\n",
			in: inEngine, test: "TestRunnerRedacts",
		},
		{
			off: "a reconciliation of a service returns it", file: "operator/service/controller.go",
			old: "	return result, apierror.Redact(err)\n", new: "	return result, pick(ON, apierror.Redact(err), err)\n",
			in: inService, test: "TestReconcileRedacts",
		},
		{
			off: "the API server repeats an e-mail address", file: mandateCRD,
			old: "                    email:\n", new: "                    email:\n                      pattern: .+@.+\n",
			in: inAPI, test: "TestPersonalFieldsAreNotRepeated",
		},
	},
	"the operator's memory holds the personal data of the cluster": {
		{
			off: "the cache holds individuals", file: cacheFile,
			old: "		for i, individual := range mandate.Spec.Individuals {",
			new: "		for i, individual := range pick(ON, mandate.Spec.Individuals, nil) {",
			in:  inOperator, test: "TestCacheHasNoPersonalData",
		},
		{
			off: "the cache holds the names of applications", file: cacheFile,
			old: `		mandate.Spec.Name = ""`, new: `		mandate.Spec.Name = pick(ON, "", mandate.Spec.Name)`,
			in: inOperator, test: "TestCacheHasNoPersonalData",
		},
		{
			off: "the cache holds annotations", file: cacheFile,
			old: "	metadata.SetAnnotations(nil)", new: "	metadata.SetAnnotations(pick(ON, nil, metadata.GetAnnotations()))",
			in: inOperator, test: "TestCacheHasNoPersonalData",
		},
	},
}
