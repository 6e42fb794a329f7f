package threats

const (
	viewerRole  = "config/rbac/viewer_role.yaml"
	mandateCRD  = "config/crd/bases/idv.mandate.io_mandates.yaml"
	cacheFile   = "operator/cache.go"
	asSensitive = "internal/client/sensitive.go"
)

var personalData = map[string][]control{
	"it appears in a status, event, log or ApplicationRecord": {
		{
			off: "a sensitive value prints itself", file: asSensitive,
			old: "_, _ = io.WriteString(state, redacted) }",
			new: "_, _ = io.WriteString(state, pick(ON, redacted, fmt.Sprint(s.Reveal()))) }",
			in:  inClient, test: "TestNothingSensitiveIsPrinted",
		},
		{
			off: "a sensitive value is a Stringer of itself", file: asSensitive,
			old: "String() string { return redacted }\n\n// GoString",
			new: "String() string { return pick(ON, redacted, fmt.Sprint(s.Reveal())) }\n\n// GoString",
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
			old: `mandate.ManagedFields, mandate.Spec.Name = nil, ""`,
			new: `mandate.ManagedFields, mandate.Spec.Name = nil, pick(ON, "", mandate.Spec.Name)`,
			in:  inOperator, test: "TestCacheHasNoPersonalData",
		},
		{
			off: "the cache holds annotations", file: cacheFile,
			old: "		mandate.Annotations = nil\n",
			new: "		mandate.Annotations = pick(ON, nil, mandate.Annotations)\n",
			in:  inOperator, test: "TestCacheHasNoPersonalData",
		},
	},
}
