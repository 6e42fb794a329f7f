package provider

import (
	"context"
	"fmt"
	"os"
	"runtime"
	"time"

	"github.com/hashicorp/terraform-plugin-framework/diag"
	"github.com/hashicorp/terraform-plugin-framework/path"
	"github.com/hashicorp/terraform-plugin-framework/provider"

	"github.com/mandate-io/idv/internal/client"
)

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
	model := config.withEnvironment()
	connection := &connection{}
	if connection.unknownArgument = model.unknownArgument(); connection.unknownArgument == "" {
		var configError diag.Diagnostic
		connection.client, configError = model.newClient(ctx, userAgent(p.version, req.TerraformVersion))
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
}

// newClient creates the client and tries the credentials. It stops at the first error: one missing argument often
// causes the next error.
func (m providerModel) newClient(ctx context.Context, userAgent string) (*client.Client, diag.Diagnostic) {
	config, configError := m.clientConfig()
	if configError != nil {
		return nil, configError
	}
	config.UserAgent = userAgent
	config.Observe = m.requestLogger(ctx)
	service, err := client.New(config)
	if err != nil {
		return nil, diag.NewErrorDiagnostic("Invalid provider configuration", asSentence(err))
	}
	if _, err := service.AccessToken(ctx); client.KindOf(err) == client.KindCredentials {
		return nil, diag.NewErrorDiagnostic("The service rejects the credentials", errorDetail(err))
	}
	return service, nil
}

func (m providerModel) clientConfig() (client.Config, diag.Diagnostic) {
	config := client.Config{
		BaseURL: m.BaseURL.ValueString(),
		Credentials: client.Credentials{
			Username:     m.Username.ValueString(),
			Password:     client.Hide(m.Password.ValueString()),
			ClientID:     m.ClientID.ValueString(),
			ClientSecret: client.Hide(m.ClientSecret.ValueString()),
		},
		TokenAuthorization: client.TokenAuthorization(m.TokenAuthorization.ValueString()),
		RequestsPerSecond:  -1,
		ProxyURL:           client.Hide(m.ProxyURL.ValueString()),
		CABundle:           []byte(m.CAPEM.ValueString()),
	}
	if configError := m.checkRequired(); configError != nil {
		return config, configError
	}
	if !m.CAFile.IsNull() {
		bundle, err := os.ReadFile(m.CAFile.ValueString())
		if err != nil {
			return config, diag.NewAttributeErrorDiagnostic(path.Root("ca_file"), "Cannot read ca_file", asSentence(err))
		}
		config.CABundle = bundle
	}
	if !m.RequestTimeout.IsNull() {
		// The schema has validated it: no environment variable sets this argument.
		config.RequestTimeout, _ = time.ParseDuration(m.RequestTimeout.ValueString())
		config.MaxRateLimitWait = config.RequestTimeout
	}
	if !m.MaxRequestsPerSecond.IsNull() {
		config.RequestsPerSecond = m.MaxRequestsPerSecond.ValueFloat64()
	}
	return config, nil
}

// checkRequired checks the arguments that the block or the environment must set.
func (m providerModel) checkRequired() diag.Diagnostic {
	if m.BaseURL.IsNull() {
		return diag.NewAttributeErrorDiagnostic(path.Root("base_url"), "Missing base_url",
			"The provider needs the address of the service.\n\nSet `base_url` in the provider block, or the environment "+
				"variable "+envBaseURL+", to the address without /api/v1, such as https://idv.example.com.")
	}
	if err := client.ValidateBaseURL(m.BaseURL.ValueString()); err != nil {
		return diag.NewAttributeErrorDiagnostic(path.Root("base_url"), "Invalid base_url", asSentence(err))
	}
	if missing, found := m.missingCredential(); found {
		return diag.NewAttributeErrorDiagnostic(path.Root(missing.attribute), "Incomplete credentials", missing.detail())
	}
	if m.Username.IsNull() && m.ClientID.IsNull() {
		return diag.NewErrorDiagnostic("Missing credentials", fmt.Sprintf(
			"The provider needs `username` and `password`, `client_id` and `client_secret`, or both pairs.\n\nSet them in "+
				"the provider block, or as the environment variables %s and %s, %s and %s.",
			envUsername, envPassword, envClientID, envClientSecret))
	}
	return nil
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
