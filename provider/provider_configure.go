package provider

import (
	"context"
	"fmt"
	"maps"
	"os"
	"runtime"
	"slices"
	"strings"
	"time"

	"github.com/hashicorp/terraform-plugin-framework-validators/providervalidator"
	"github.com/hashicorp/terraform-plugin-framework/diag"
	"github.com/hashicorp/terraform-plugin-framework/path"
	"github.com/hashicorp/terraform-plugin-framework/provider"
	"github.com/hashicorp/terraform-plugin-framework/types"
	"github.com/hashicorp/terraform-plugin-log/tflog"

	"github.com/mandate-io/idv/internal/client"
)

type providerModel struct {
	BaseURL              types.String  `tfsdk:"base_url"`
	Username             types.String  `tfsdk:"username"`
	Password             types.String  `tfsdk:"password"`
	ClientID             types.String  `tfsdk:"client_id"`
	ClientSecret         types.String  `tfsdk:"client_secret"`
	TokenAuthorization   types.String  `tfsdk:"token_authorization"`
	GrantType            types.String  `tfsdk:"grant_type"`
	CAFile               types.String  `tfsdk:"ca_file"`
	CAPEM                types.String  `tfsdk:"ca_pem"`
	ProxyURL             types.String  `tfsdk:"proxy_url"`
	RequestTimeout       types.String  `tfsdk:"request_timeout"`
	MaxRequestsPerSecond types.Float64 `tfsdk:"max_requests_per_second"`
	WebhookFieldNames    types.Map     `tfsdk:"webhook_field_names"`
}

// settings are the provider block, completed by the environment.
type settings struct {
	providerModel
	// fromEnvironment has the arguments that came from an environment variable.
	fromEnvironment map[string]bool
	// withheld are the variables with credentials that are for another service.
	withheld []string
}

// Configure creates the connection that everything below one provider block shares.
//
// It logs in at once, so that rejected credentials are one error instead of one for every resource and data source. Any
// other failure is left to the requests, because some plans send none.
func (p *idvProvider) Configure(
	ctx context.Context, req provider.ConfigureRequest, resp *provider.ConfigureResponse,
) {
	var config providerModel
	resp.Diagnostics.Append(req.Config.Get(ctx, &config)...)
	if resp.Diagnostics.HasError() {
		return
	}
	settings := config.withEnvironment()
	connection := &connection{fieldNames: stringsOf(config.WebhookFieldNames)}
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
		BaseURL: s.BaseURL.ValueString(),
		Credentials: client.Credentials{
			Username:     s.Username.ValueString(),
			Password:     client.Hide(s.Password.ValueString()),
			ClientID:     s.ClientID.ValueString(),
			ClientSecret: client.Hide(s.ClientSecret.ValueString()),
		},
		TokenAuthorization: client.TokenAuthorization(s.TokenAuthorization.ValueString()),
		GrantType:          client.GrantType(s.GrantType.ValueString()),
		RequestsPerSecond:  -1,
		ProxyURL:           client.Hide(s.ProxyURL.ValueString()),
		CABundle:           []byte(s.CAPEM.ValueString()),
	}
	if configError := s.check(); configError != nil {
		return config, configError
	}
	if !s.CAFile.IsNull() {
		bundle, err := os.ReadFile(s.CAFile.ValueString())
		switch {
		case err != nil && s.fromEnvironment["ca_file"]:
			return config, diag.NewErrorDiagnostic("Cannot read ca_file",
				asSentence(err)+"\n\nThe value comes from the environment variable IDV_CA_FILE.")
		case err != nil:
			return config, diag.NewAttributeErrorDiagnostic(path.Root("ca_file"), "Cannot read ca_file", asSentence(err))
		}
		config.CABundle = bundle
	}
	if !s.RequestTimeout.IsNull() {
		// The schema or checkEnvironment has validated it.
		config.RequestTimeout, _ = time.ParseDuration(s.RequestTimeout.ValueString())
		config.MaxRateLimitWait = config.RequestTimeout
	}
	if !s.MaxRequestsPerSecond.IsNull() {
		config.RequestsPerSecond = s.MaxRequestsPerSecond.ValueFloat64()
	}
	return config, nil
}

// check checks the values of the environment, and that the block or the environment sets what is required.
func (s settings) check() diag.Diagnostic {
	if s.BaseURL.IsNull() {
		return diag.NewAttributeErrorDiagnostic(path.Root("base_url"), "Missing base_url",
			"The provider needs the address of the service.\n\nSet `base_url` in the provider block, or the environment "+
				"variable IDV_BASE_URL, to the address without /api/v1, such as https://idv.example.com.")
	}
	if invalid := s.checkEnvironment(); invalid != nil {
		return invalid
	}
	if err := client.ValidateBaseURL(s.BaseURL.ValueString()); err != nil { // known only after the schema validated it
		return diag.NewAttributeErrorDiagnostic(path.Root("base_url"), "Invalid base_url", asSentence(err))
	}
	if missing, detail := s.missingCredential(); missing != "" {
		return diag.NewAttributeErrorDiagnostic(path.Root(missing), "Incomplete credentials", detail)
	}
	if s.Username.IsNull() && s.ClientID.IsNull() {
		return s.missingCredentials()
	}
	return nil
}

func (s settings) missingCredentials() diag.Diagnostic {
	if reason := s.withheldReason(); reason != "" {
		return diag.NewAttributeErrorDiagnostic(path.Root("base_url"), "Missing credentials for base_url", reason+
			"Set the credentials for `base_url` in the provider block, or remove `base_url` from the block to use the "+
			"service of IDV_BASE_URL.")
	}
	return diag.NewErrorDiagnostic("Missing credentials",
		"The provider needs `username` and `password`, `client_id` and `client_secret`, or both pairs.\n\nSet them in "+
			"the provider block, or as the environment variables IDV_USERNAME and IDV_PASSWORD, IDV_CLIENT_ID and "+
			"IDV_CLIENT_SECRET.")
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
func (m providerModel) incompletePair() (missing, reason string) {
	texts := m.texts()
	for _, pair := range [][2]string{
		{"username", "password"}, {"password", "username"}, {"client_id", "client_secret"}, {"client_secret", "client_id"},
	} {
		if !texts[pair[0]].IsNull() && texts[pair[1]].IsNull() {
			return pair[1], fmt.Sprintf("%#q is set without %#q.", pair[0], pair[1])
		}
	}
	for _, setting := range []struct{ attribute, value, name, secret string }{
		{"token_authorization", string(client.TokenAuthorizationBasic), "client_id", "client_secret"},
		{"token_authorization", string(client.TokenAuthorizationUserBasic), "username", "password"},
		{"grant_type", string(client.GrantClientCredentials), "client_id", "client_secret"},
	} {
		if texts[setting.attribute].ValueString() == setting.value && texts[setting.name].IsNull() {
			return setting.name, fmt.Sprintf(
				"`%s = %q` requires %#q and %#q.", setting.attribute, setting.value, setting.name, setting.secret)
		}
	}
	return "", ""
}

func (p *idvProvider) ConfigValidators(context.Context) []provider.ConfigValidator {
	return []provider.ConfigValidator{
		providervalidator.Conflicting(path.MatchRoot("ca_file"), path.MatchRoot("ca_pem")),
		credentialsValidator{},
	}
}

// credentialsValidator only warns: the environment of `terraform validate` often has no secrets on purpose. Configure
// reports the error.
type credentialsValidator struct{}

func (credentialsValidator) Description(context.Context) string {
	return "username requires password and client_id requires client_secret, and the other way round"
}

func (v credentialsValidator) MarkdownDescription(ctx context.Context) string {
	return v.Description(ctx)
}

func (credentialsValidator) ValidateProvider(
	ctx context.Context, req provider.ValidateConfigRequest, resp *provider.ValidateConfigResponse,
) {
	var model providerModel
	resp.Diagnostics.Append(req.Config.Get(ctx, &model)...)
	settings := model.withEnvironment()
	if missing, detail := settings.missingCredential(); missing != "" {
		resp.Diagnostics.AddAttributeWarning(path.Root(missing), "Incomplete credentials",
			detail+" Otherwise plan and apply fail.")
	}
}

// texts are the arguments that are strings.
func (m *providerModel) texts() map[string]*types.String {
	return map[string]*types.String{
		"base_url": &m.BaseURL, "username": &m.Username, "password": &m.Password, "client_id": &m.ClientID,
		"client_secret": &m.ClientSecret, "token_authorization": &m.TokenAuthorization, "grant_type": &m.GrantType,
		"ca_file": &m.CAFile, "ca_pem": &m.CAPEM, "proxy_url": &m.ProxyURL, "request_timeout": &m.RequestTimeout,
	}
}

// unknownArgument returns the name of an argument that Terraform does not know yet, or "".
func (m *providerModel) unknownArgument() string {
	texts := m.texts()
	for _, name := range slices.Sorted(maps.Keys(texts)) {
		if texts[name].IsUnknown() {
			return name
		}
	}
	switch {
	case m.MaxRequestsPerSecond.IsUnknown():
		return "max_requests_per_second"
	case !isKnown(m.WebhookFieldNames):
		return "webhook_field_names"
	default:
		return ""
	}
}

// environmentArgument is an argument that an environment variable sets if the provider block does not.
type environmentArgument struct {
	attribute  string
	format     formatValidator // of the attribute; the zero value accepts any text
	credential bool
}

var environmentArguments = []environmentArgument{
	{attribute: "base_url", format: baseURLValidator},
	{attribute: "username", credential: true},
	{attribute: "password", credential: true},
	{attribute: "client_id", credential: true},
	{attribute: "client_secret", credential: true},
	{attribute: "token_authorization", format: tokenAuthorizationValidator},
	{attribute: "grant_type", format: grantTypeValidator},
	{attribute: "ca_file"},
	{attribute: "proxy_url", format: proxyURLValidator},
	{attribute: "request_timeout", format: durationValidator},
}

// variableOf is the environment variable of an argument, such as IDV_BASE_URL.
func variableOf(attribute string) string { return "IDV_" + strings.ToUpper(attribute) }

// withEnvironment sets the arguments that are null. An unknown argument stays unknown: its own value will count.
//
// If the environment names a service, its credentials are for that service only: a module that sets another base_url
// must not get them.
func (m providerModel) withEnvironment() settings {
	s := settings{providerModel: m, fromEnvironment: map[string]bool{}}
	service := os.Getenv("IDV_BASE_URL")
	other := service != "" && !m.BaseURL.IsNull() && !m.BaseURL.IsUnknown() &&
		!client.SameBaseURL(m.BaseURL.ValueString(), service)
	texts := s.texts()
	for _, argument := range environmentArguments {
		value, environment := texts[argument.attribute], os.Getenv(variableOf(argument.attribute))
		switch {
		case !value.IsNull() || environment == "" || argument.attribute == "ca_file" && !m.CAPEM.IsNull():
		case argument.credential && other:
			s.withheld = append(s.withheld, variableOf(argument.attribute))
		default:
			*value = types.StringValue(environment)
			s.fromEnvironment[argument.attribute] = true
		}
	}
	return s
}

// checkEnvironment validates the variables in use as the schema validates the arguments.
func (s settings) checkEnvironment() diag.Diagnostic {
	texts := s.texts()
	for _, argument := range environmentArguments {
		valid := argument.format.valid
		if s.fromEnvironment[argument.attribute] && valid != nil && !valid(texts[argument.attribute].ValueString()) {
			variable := variableOf(argument.attribute)
			return diag.NewErrorDiagnostic("Invalid "+variable,
				fmt.Sprintf("The environment variable %s must %s.", variable, argument.format.requirement))
		}
	}
	return nil
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
func (m providerModel) requestLogger(ctx context.Context) func(client.RequestResult) {
	ctx = context.WithoutCancel(ctx)
	secrets := []string{m.Password.ValueString(), m.ClientSecret.ValueString(), m.ProxyURL.ValueString()}
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
