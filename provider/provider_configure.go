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
	// variables has the environment variable of each argument that came from one.
	variables map[string]string
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
		if err != nil {
			return config, s.argumentError("ca_file", "Cannot read ca_file", asSentence(err))
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
				"variable "+envBaseURL+", to the address without /api/v1, such as https://idv.example.com.")
	}
	if invalid := s.checkEnvironment(); invalid != nil {
		return invalid
	}
	if err := client.ValidateBaseURL(s.BaseURL.ValueString()); err != nil { // known only after the schema validated it
		return diag.NewAttributeErrorDiagnostic(path.Root("base_url"), "Invalid base_url", asSentence(err))
	}
	if missing, found := s.missingCredential(); found {
		return diag.NewAttributeErrorDiagnostic(path.Root(missing.attribute), "Incomplete credentials", missing.detail(s))
	}
	if s.Username.IsNull() && s.ClientID.IsNull() {
		return s.missingCredentials()
	}
	return nil
}

func (s settings) missingCredentials() diag.Diagnostic {
	if reason := s.withheldReason(); reason != "" {
		return diag.NewAttributeErrorDiagnostic(path.Root("base_url"), "Missing credentials for base_url", reason+fmt.Sprintf(
			"Set the credentials for `base_url` in the provider block, or remove `base_url` from the block to use the "+
				"service of %s.", envBaseURL))
	}
	return diag.NewErrorDiagnostic("Missing credentials", fmt.Sprintf(
		"The provider needs `username` and `password`, `client_id` and `client_secret`, or both pairs.\n\nSet them in "+
			"the provider block, or as the environment variables %s and %s, %s and %s.",
		envUsername, envPassword, envClientID, envClientSecret))
}

// userAgent names the provider and the CLI. It cannot tell OpenTofu from Terraform: OpenTofu sends the version of the
// Terraform that it is compatible with.
func userAgent(version, terraformVersion string) string {
	agent := fmt.Sprintf("terraform-provider-idv/%s (Terraform %s or compatible; %s/%s)",
		version, terraformVersion, runtime.GOOS, runtime.GOARCH)
	if suffix := os.Getenv("TF_APPEND_USER_AGENT"); suffix != "" {
		agent += " " + suffix
	}
	return agent
}

// missingCredential is a credential that another one requires.
type missingCredential struct{ attribute, variable, reason string }

func (m missingCredential) detail(s settings) string {
	action := fmt.Sprintf("%s\n\nSet %#q in the provider block", m.reason, m.attribute)
	if slices.Contains(s.withheld, m.variable) {
		return s.withheldReason() + action + "."
	}
	return fmt.Sprintf("%s, or the environment variable %s.", action, m.variable)
}

// missingCredential looks for an incomplete pair. An unknown value counts as set.
func (m providerModel) missingCredential() (missingCredential, bool) {
	hasUsername, hasPassword := !m.Username.IsNull(), !m.Password.IsNull()
	hasID, hasSecret := !m.ClientID.IsNull(), !m.ClientSecret.IsNull()
	basic := types.StringValue(string(client.TokenAuthorizationBasic))
	userBasic := types.StringValue(string(client.TokenAuthorizationUserBasic))
	clientCredentials := types.StringValue(string(client.GrantClientCredentials))
	switch {
	case hasUsername && !hasPassword:
		return missingCredential{"password", envPassword, "`username` is set without `password`."}, true
	case hasPassword && !hasUsername:
		return missingCredential{"username", envUsername, "`password` is set without `username`."}, true
	case hasID && !hasSecret:
		return missingCredential{"client_secret", envClientSecret, "`client_id` is set without `client_secret`."}, true
	case hasSecret && !hasID:
		return missingCredential{"client_id", envClientID, "`client_secret` is set without `client_id`."}, true
	case !hasID && m.TokenAuthorization.Equal(basic):
		return missingCredential{
			"client_id", envClientID, "`token_authorization = \"Basic\"` requires `client_id` and `client_secret`.",
		}, true
	case !hasUsername && m.TokenAuthorization.Equal(userBasic):
		return missingCredential{
			"username", envUsername, "`token_authorization = \"UserBasic\"` requires `username` and `password`.",
		}, true
	case !hasID && m.GrantType.Equal(clientCredentials):
		return missingCredential{
			"client_id", envClientID, "`grant_type = \"client_credentials\"` requires `client_id` and `client_secret`.",
		}, true
	}
	return missingCredential{}, false
}

// ConfigValidators implements provider.ProviderWithConfigValidators.
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
	if missing, found := settings.missingCredential(); found {
		resp.Diagnostics.AddAttributeWarning(path.Root(missing.attribute), "Incomplete credentials",
			missing.detail(settings)+" Otherwise plan and apply fail.")
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

// The environment variables for arguments that the provider block does not set.
const (
	envBaseURL            = "IDV_BASE_URL"
	envUsername           = "IDV_USERNAME"
	envPassword           = "IDV_PASSWORD"
	envClientID           = "IDV_CLIENT_ID"
	envClientSecret       = "IDV_CLIENT_SECRET" //nolint:gosec // the name of a variable
	envGrantType          = "IDV_GRANT_TYPE"
	envTokenAuthorization = "IDV_TOKEN_AUTHORIZATION" //nolint:gosec // the name of a variable
	envCAFile             = "IDV_CA_FILE"
	envProxyURL           = "IDV_PROXY_URL"
	envRequestTimeout     = "IDV_REQUEST_TIMEOUT"
)

// environmentArgument is an argument that an environment variable can set.
type environmentArgument struct {
	attribute, variable string
	format              formatValidator // of the attribute; the zero value accepts any text
	credential          bool
}

var environmentArguments = []environmentArgument{
	{attribute: "base_url", variable: envBaseURL, format: baseURLValidator},
	{attribute: "username", variable: envUsername, credential: true},
	{attribute: "password", variable: envPassword, credential: true},
	{attribute: "client_id", variable: envClientID, credential: true},
	{attribute: "client_secret", variable: envClientSecret, credential: true},
	{attribute: "token_authorization", variable: envTokenAuthorization, format: tokenAuthorizationValidator},
	{attribute: "grant_type", variable: envGrantType, format: grantTypeValidator},
	{attribute: "ca_file", variable: envCAFile},
	{attribute: "proxy_url", variable: envProxyURL, format: proxyURLValidator},
	{attribute: "request_timeout", variable: envRequestTimeout, format: durationValidator},
}

// withEnvironment sets the arguments that are null. An unknown argument stays unknown: its own value will count.
//
// If the environment names a service, its credentials are for that service only: a module that sets another base_url
// must not get them.
func (m providerModel) withEnvironment() settings {
	s := settings{providerModel: m, variables: map[string]string{}}
	service := os.Getenv(envBaseURL)
	other := service != "" && !m.BaseURL.IsNull() && !m.BaseURL.IsUnknown() &&
		!client.SameBaseURL(m.BaseURL.ValueString(), service)
	texts := s.texts()
	for _, argument := range environmentArguments {
		value, environment := texts[argument.attribute], os.Getenv(argument.variable)
		switch {
		case !value.IsNull() || environment == "" || argument.attribute == "ca_file" && !m.CAPEM.IsNull():
		case argument.credential && other:
			s.withheld = append(s.withheld, argument.variable)
		default:
			*value = types.StringValue(environment)
			s.variables[argument.attribute] = argument.variable
		}
	}
	return s
}

// checkEnvironment validates the variables in use as the schema validates the arguments.
func (s settings) checkEnvironment() diag.Diagnostic {
	texts := s.texts()
	for _, argument := range environmentArguments {
		_, used := s.variables[argument.attribute]
		if used && argument.format.valid != nil && !argument.format.valid(texts[argument.attribute].ValueString()) {
			return diag.NewErrorDiagnostic("Invalid "+argument.variable, fmt.Sprintf(
				"The environment variable %s must %s.", argument.variable, argument.format.requirement))
		}
	}
	return nil
}

// argumentError is an error of an argument. It names the environment variable if the value came from one.
func (s settings) argumentError(attribute, summary, detail string) diag.Diagnostic {
	if variable, ok := s.variables[attribute]; ok {
		return diag.NewErrorDiagnostic(summary, fmt.Sprintf(
			"%s\n\nThe value comes from the environment variable %s.", detail, variable))
	}
	return diag.NewAttributeErrorDiagnostic(path.Root(attribute), summary, detail)
}

// withheldReason says why credentials of the environment are not in use; "" if none is withheld.
func (s settings) withheldReason() string {
	if len(s.withheld) == 0 {
		return ""
	}
	return fmt.Sprintf("The provider does not use %s, because the environment variable %s names another service than "+
		"`base_url`. Credentials of the environment go to the service of the environment only.\n\n",
		strings.Join(s.withheld, ", "), envBaseURL)
}

// withMaskedSecrets masks the secrets of the provider block in every log entry of the context. No entry is meant to
// hold one.
func (m providerModel) withMaskedSecrets(ctx context.Context) context.Context {
	var secrets []string
	for _, secret := range []types.String{m.Password, m.ClientSecret, m.ProxyURL} {
		if secret.ValueString() != "" {
			secrets = append(secrets, secret.ValueString())
		}
	}
	return tflog.MaskMessageStrings(tflog.MaskAllFieldValuesStrings(ctx, secrets...), secrets...)
}

// requestLogger returns a function that logs one entry for each request at level DEBUG, with only what the client marks
// as safe. It uses the logger of Configure: the client serves all operations of the run and has no context of theirs.
func (m providerModel) requestLogger(ctx context.Context) func(client.RequestResult) {
	ctx = context.WithoutCancel(ctx)
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
		tflog.Debug(m.withMaskedSecrets(ctx), "Request to the identity verification service", fields)
	}
}
