package provider

import (
	"cmp"
	"context"
	"fmt"
	"os"
	"runtime"
	"slices"
	"strings"
	"time"

	"github.com/hashicorp/terraform-plugin-framework-validators/providervalidator"
	"github.com/hashicorp/terraform-plugin-framework/diag"
	"github.com/hashicorp/terraform-plugin-framework/path"
	"github.com/hashicorp/terraform-plugin-framework/provider"
	"github.com/hashicorp/terraform-plugin-framework/tfsdk"
	"github.com/hashicorp/terraform-plugin-framework/types"
	"github.com/hashicorp/terraform-plugin-log/tflog"

	"github.com/mandate-io/idv/internal/client"
)

// settings are the provider block, completed by the environment.
type settings struct {
	// texts are by the name of the argument.
	texts                map[string]types.String
	maxRequestsPerSecond types.Float64
	webhookFieldNames    types.Map
	// fromEnvironment has the arguments that came from an environment variable.
	fromEnvironment map[string]bool
	// withheld are the variables with credentials that are for another service.
	withheld []string
}

func readSettings(ctx context.Context, config tfsdk.Config, diags *diag.Diagnostics) settings {
	s := settings{texts: map[string]types.String{}}
	for _, argument := range arguments {
		var text types.String
		diags.Append(config.GetAttribute(ctx, path.Root(argument.name), &text)...)
		s.texts[argument.name] = text
	}
	diags.Append(config.GetAttribute(ctx, path.Root("max_requests_per_second"), &s.maxRequestsPerSecond)...)
	diags.Append(config.GetAttribute(ctx, path.Root("webhook_field_names"), &s.webhookFieldNames)...)
	return s.withEnvironment()
}

// text is the value of an argument; "" if it is null or unknown.
func (s settings) text(argument string) string { return s.texts[argument].ValueString() }

// isSet reports whether an argument has a value, even one that Terraform does not know yet.
func (s settings) isSet(argument string) bool { return !s.texts[argument].IsNull() }

// Configure creates the connection that everything below one provider block shares.
//
// It logs in at once, so that rejected credentials are one error instead of one for every resource and data source. Any
// other failure is left to the requests, because some plans send none.
func (p *idvProvider) Configure(
	ctx context.Context, req provider.ConfigureRequest, resp *provider.ConfigureResponse,
) {
	settings := readSettings(ctx, req.Config, &resp.Diagnostics)
	if resp.Diagnostics.HasError() {
		return
	}
	connection := &connection{fieldNames: stringsOf(settings.webhookFieldNames)}
	if connection.unknownArgument = settings.unknownArgument(); connection.unknownArgument == "" {
		var configError diag.Diagnostic
		connection.client, configError = settings.newClient(ctx, userAgent(p.version, req.TerraformVersion))
		if configError != nil {
			resp.Diagnostics.Append(configError)
			return
		}
	} else if req.ClientCapabilities.DeferralAllowed {
		resp.Deferred = &provider.Deferred{Reason: provider.DeferredReasonProviderConfigUnknown}
	}
	resp.DataSourceData = connection
	resp.ResourceData = connection
	resp.EphemeralResourceData = connection
	resp.ActionData = connection
	resp.ListResourceData = connection
}

// newClient creates the client and tries the credentials. It stops at the first error: one missing argument often
// causes the next error.
func (s settings) newClient(ctx context.Context, userAgent string) (*client.Client, diag.Diagnostic) {
	config, configError := s.clientConfig()
	if configError != nil {
		return nil, configError
	}
	config.UserAgent = userAgent
	config.Observe = s.requestLogger(ctx)
	service, err := client.New(config)
	if err != nil {
		return nil, diag.NewErrorDiagnostic("Invalid provider configuration", asSentence(err))
	}
	if _, err := service.AccessToken(ctx); client.KindOf(err) == client.KindCredentials {
		return nil, diag.NewErrorDiagnostic("The service rejects the credentials", errorDetail(err))
	}
	return service, nil
}

func (s settings) clientConfig() (client.Config, diag.Diagnostic) {
	config := client.Config{
		BaseURL: s.text("base_url"),
		Credentials: client.Credentials{
			Username:     s.text("username"),
			Password:     client.Hide(s.text("password")),
			ClientID:     s.text("client_id"),
			ClientSecret: client.Hide(s.text("client_secret")),
		},
		TokenAuthorization: client.TokenAuthorization(s.text("token_authorization")),
		GrantType:          client.GrantType(s.text("grant_type")),
		RequestsPerSecond:  -1,
		ProxyURL:           client.Hide(s.text("proxy_url")),
		CABundle:           []byte(s.text("ca_pem")),
	}
	if configError := s.check(); configError != nil {
		return config, configError
	}
	if s.isSet("ca_file") {
		bundle, err := os.ReadFile(s.text("ca_file"))
		switch {
		case err != nil && s.fromEnvironment["ca_file"]:
			return config, diag.NewErrorDiagnostic("Cannot read ca_file",
				asSentence(err)+"\n\nThe value comes from the environment variable IDV_CA_FILE.")
		case err != nil:
			return config, diag.NewAttributeErrorDiagnostic(path.Root("ca_file"), "Cannot read ca_file", asSentence(err))
		}
		config.CABundle = bundle
	}
	if s.isSet("request_timeout") {
		// The schema or check has validated it.
		config.RequestTimeout, _ = time.ParseDuration(s.text("request_timeout"))
		config.MaxRateLimitWait = config.RequestTimeout
	}
	if !s.maxRequestsPerSecond.IsNull() {
		config.RequestsPerSecond = s.maxRequestsPerSecond.ValueFloat64()
	}
	return config, nil
}

// check checks the values of the environment, and that the block or the environment sets what is required.
func (s settings) check() diag.Diagnostic {
	if !s.isSet("base_url") {
		return diag.NewAttributeErrorDiagnostic(path.Root("base_url"), "Missing base_url",
			"The provider needs the address of the service.\n\nSet `base_url` in the provider block, or the environment "+
				"variable IDV_BASE_URL, to the address without /api/v1, such as https://idv.example.com.")
	}
	for _, argument := range arguments {
		valid, variable := argument.format.valid, variableOf(argument.name)
		if s.fromEnvironment[argument.name] && valid != nil && !valid(s.text(argument.name)) {
			return diag.NewErrorDiagnostic("Invalid "+variable,
				fmt.Sprintf("The environment variable %s must %s.", variable, argument.format.requirement))
		}
	}
	if err := client.ValidateBaseURL(s.text("base_url")); err != nil { // known only after the schema validated it
		return diag.NewAttributeErrorDiagnostic(path.Root("base_url"), "Invalid base_url", asSentence(err))
	}
	if missing, detail := s.missingCredential(); missing != "" {
		return diag.NewAttributeErrorDiagnostic(path.Root(missing), "Incomplete credentials", detail)
	}
	switch reason := s.withheldReason(); {
	case s.isSet("username") || s.isSet("client_id"):
		return nil
	case reason != "":
		return diag.NewAttributeErrorDiagnostic(path.Root("base_url"), "Missing credentials for base_url", reason+
			"Set the credentials for `base_url` in the provider block, or remove `base_url` from the block to use the "+
			"service of IDV_BASE_URL.")
	default:
		return diag.NewErrorDiagnostic("Missing credentials",
			"The provider needs `username` and `password`, `client_id` and `client_secret`, or both pairs.\n\nSet them in "+
				"the provider block, or as the environment variables IDV_USERNAME and IDV_PASSWORD, IDV_CLIENT_ID and "+
				"IDV_CLIENT_SECRET.")
	}
}

// userAgent names the provider and the CLI. It cannot tell OpenTofu from Terraform: OpenTofu sends the version of the
// Terraform that it is compatible with.
func userAgent(version, terraformVersion string) string {
	return strings.TrimSpace(fmt.Sprintf("terraform-provider-idv/%s (Terraform %s or compatible; %s/%s) %s",
		version, terraformVersion, runtime.GOOS, runtime.GOARCH, os.Getenv("TF_APPEND_USER_AGENT")))
}

// missingCredential returns the argument that an incomplete pair lacks, and how to set it; "" if none is missing.
func (s settings) missingCredential() (attribute, detail string) {
	attribute, reason := s.incompletePair()
	action, variable := fmt.Sprintf("%s\n\nSet %#q in the provider block", reason, attribute), variableOf(attribute)
	switch {
	case attribute == "":
		return "", ""
	case slices.Contains(s.withheld, variable):
		return attribute, s.withheldReason() + action + "."
	default:
		return attribute, fmt.Sprintf("%s, or the environment variable %s.", action, variable)
	}
}

// incompletePair returns the argument that another one requires, and why. An unknown value counts as set.
func (s settings) incompletePair() (missing, reason string) {
	for _, pair := range [][2]string{
		{"username", "password"}, {"password", "username"}, {"client_id", "client_secret"}, {"client_secret", "client_id"},
	} {
		if s.isSet(pair[0]) && !s.isSet(pair[1]) {
			return pair[1], fmt.Sprintf("%#q is set without %#q.", pair[0], pair[1])
		}
	}
	for _, setting := range []struct{ argument, value, name, secret string }{
		{"token_authorization", string(client.TokenAuthorizationBasic), "client_id", "client_secret"},
		{"token_authorization", string(client.TokenAuthorizationUserBasic), "username", "password"},
		{"grant_type", string(client.GrantClientCredentials), "client_id", "client_secret"},
	} {
		if s.text(setting.argument) == setting.value && !s.isSet(setting.name) {
			return setting.name, fmt.Sprintf(
				"`%s = %q` requires %#q and %#q.", setting.argument, setting.value, setting.name, setting.secret)
		}
	}
	return "", ""
}

func (p *idvProvider) ConfigValidators(context.Context) []provider.ConfigValidator {
	return []provider.ConfigValidator{
		providervalidator.Conflicting(path.MatchRoot("ca_file"), path.MatchRoot("ca_pem")),
	}
}

// ValidateConfig only warns about credentials: the environment of `terraform validate` often has no secrets on purpose.
// Configure reports the error.
func (p *idvProvider) ValidateConfig(
	ctx context.Context, req provider.ValidateConfigRequest, resp *provider.ValidateConfigResponse,
) {
	settings := readSettings(ctx, req.Config, &resp.Diagnostics)
	if missing, detail := settings.missingCredential(); missing != "" {
		resp.Diagnostics.AddAttributeWarning(path.Root(missing), "Incomplete credentials",
			detail+" Otherwise plan and apply fail.")
	}
	// Of two arguments in one field, the second would silently replace the first.
	names, attributes := stringsOf(settings.webhookFieldNames), map[string]string{}
	for _, attribute := range []string{"url", "events", "application_id"} {
		name := cmp.Or(names[attribute], attribute)
		if other, ok := attributes[name]; ok {
			resp.Diagnostics.AddAttributeError(path.Root("webhook_field_names"), "Invalid webhook_field_names", fmt.Sprintf(
				"%#q and %#q have the same field name %q. Give each a field name of its own.", other, attribute, name))
		}
		attributes[name] = attribute
	}
}

// unknownArgument returns the name of an argument that Terraform does not know yet, or "".
func (s settings) unknownArgument() string {
	for _, argument := range arguments {
		if s.texts[argument.name].IsUnknown() {
			return argument.name
		}
	}
	switch {
	case s.maxRequestsPerSecond.IsUnknown():
		return "max_requests_per_second"
	case !isKnown(s.webhookFieldNames):
		return "webhook_field_names"
	default:
		return ""
	}
}

// variableOf is the environment variable of an argument, such as IDV_BASE_URL.
func variableOf(attribute string) string { return "IDV_" + strings.ToUpper(attribute) }

// withEnvironment sets the arguments that are null. An unknown argument stays unknown: its own value will count.
//
// If the environment names a service, its credentials are for that service only: a module that sets another base_url
// must not get them.
func (s settings) withEnvironment() settings {
	s.fromEnvironment = map[string]bool{}
	service, configured := os.Getenv("IDV_BASE_URL"), s.texts["base_url"]
	other := service != "" && !configured.IsNull() && !configured.IsUnknown() &&
		!client.SameBaseURL(configured.ValueString(), service)
	for _, argument := range arguments {
		name, variable := argument.name, variableOf(argument.name)
		value := os.Getenv(variable)
		switch {
		case s.isSet(name) || value == "" || argument.onlyInBlock || name == "ca_file" && s.isSet("ca_pem"):
		case argument.credential && other:
			s.withheld = append(s.withheld, variable)
		default:
			s.texts[name], s.fromEnvironment[name] = types.StringValue(value), true
		}
	}
	return s
}

// withheldReason says why credentials of the environment are not in use; "" if none is withheld.
func (s settings) withheldReason() string {
	if len(s.withheld) == 0 {
		return ""
	}
	return fmt.Sprintf("The provider does not use %s, because the environment variable IDV_BASE_URL names another "+
		"service than `base_url`. Credentials of the environment go to the service of the environment only.\n\n",
		strings.Join(s.withheld, ", "))
}

// requestLogger returns a function that logs one entry for each request at level DEBUG, with only what the client marks
// as safe. It uses the logger of Configure: the client serves all operations of the run and has no context of theirs.
// It masks the secrets of the provider block, although no entry is meant to hold one.
func (s settings) requestLogger(ctx context.Context) func(client.RequestResult) {
	ctx = context.WithoutCancel(ctx)
	secrets := []string{s.text("password"), s.text("client_secret"), s.text("proxy_url")}
	secrets = slices.DeleteFunc(secrets, func(secret string) bool { return secret == "" })
	return func(r client.RequestResult) {
		fields := map[string]any{
			"operation":   string(r.Operation),
			"method":      r.Method,
			"status":      r.Status,
			"duration_ms": r.Duration.Milliseconds(),
		}
		if r.Err != nil {
			fields["outcome"] = client.OutcomeOf(r.Err).String()
			fields["kind"] = string(client.KindOf(r.Err))
		}
		// A context of its own for each entry: tflog masks an entry, even one that it does not write, in a map of the
		// context and without a lock, so concurrent requests would crash the provider.
		masked := tflog.MaskMessageStrings(tflog.MaskAllFieldValuesStrings(ctx, secrets...), secrets...)
		tflog.Debug(masked, "Request to the identity verification service", fields)
	}
}
