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

// Configure makes the connection that everything below one provider block shares.
//
// It logs in at once. Refused credentials are then one error, where otherwise every resource and data source would have
// its own; any other trouble is left to the call that needs the service, because some plans need none.
func (p *idvProvider) Configure(ctx context.Context, req provider.ConfigureRequest, resp *provider.ConfigureResponse) {
	var configured providerModel
	resp.Diagnostics.Append(req.Config.Get(ctx, &configured)...)
	if resp.Diagnostics.HasError() {
		return
	}
	model := configured.withEnvironment()
	connection := &connection{}
	if argument := model.unknown(); argument != "" {
		connection.problem, connection.pending = notKnownYet(argument), true
		if req.ClientCapabilities.DeferralAllowed {
			resp.Deferred = &provider.Deferred{Reason: provider.DeferredReasonProviderConfigUnknown}
		}
	} else {
		connection.client, connection.problem = model.connect(ctx, userAgent(p.version, req.TerraformVersion))
	}
	if connection.problem != nil && !connection.pending && configured != (providerModel{}) {
		resp.Diagnostics.Append(connection.problem)
		return
	}
	// Without a provider block, Terraform adds to an error of this function that there ought to be one, which is not so:
	// then the first that needs the service has the error.
	resp.DataSourceData, resp.ResourceData, resp.EphemeralResourceData, resp.ActionData = connection, connection, connection, connection
}

// connect makes the client and tries the credentials. One problem is enough: a missing argument often makes the next.
func (m providerModel) connect(ctx context.Context, userAgent string) (*client.Client, diag.Diagnostic) {
	config, problem := m.clientConfig()
	if problem != nil {
		return nil, problem
	}
	config.UserAgent, config.Observe = userAgent, m.logRequests(ctx)
	service, err := client.New(config)
	if err != nil {
		return nil, diag.NewErrorDiagnostic("Invalid provider configuration", sentence(err))
	}
	if _, err := service.AccessToken(ctx); client.KindOf(err) == client.KindCredentials {
		return nil, diag.NewErrorDiagnostic("The service refuses the credentials", describe(err))
	}
	return service, nil
}

func (m providerModel) clientConfig() (client.Config, diag.Diagnostic) {
	config := client.Config{
		BaseURL: m.BaseURL.ValueString(),
		Credentials: client.Credentials{
			Username: m.Username.ValueString(), Password: client.Hide(m.Password.ValueString()),
			ClientID: m.ClientID.ValueString(), ClientSecret: client.Hide(m.ClientSecret.ValueString()),
		},
		TokenAuthorization: client.TokenAuthorization(m.TokenAuthorization.ValueString()),
		RequestsPerSecond:  -1,
		ProxyURL:           client.Hide(m.ProxyURL.ValueString()),
		CABundle:           []byte(m.CAPEM.ValueString()),
	}
	if m.BaseURL.IsNull() {
		return config, diag.NewAttributeErrorDiagnostic(path.Root("base_url"), "Missing base_url",
			"The provider does not know where the service is. Set base_url in the provider block, or "+envBaseURL+
				" in the environment, to its address without /api/v1, such as https://idv.example.com.")
	}
	if err := client.ValidateBaseURL(config.BaseURL); err != nil {
		return config, diag.NewAttributeErrorDiagnostic(path.Root("base_url"), "Invalid base_url", sentence(err))
	}
	if missing, found := m.missingCredential(); found {
		return config, diag.NewAttributeErrorDiagnostic(path.Root(missing.attribute), "Incomplete credentials", missing.text())
	}
	if m.Username.IsNull() && m.ClientID.IsNull() {
		return config, diag.NewErrorDiagnostic("Missing credentials", fmt.Sprintf(
			"Set username and password, client_id and client_secret, or both pairs, in the provider block or as %s, %s, %s and %s in the environment.",
			envUsername, envPassword, envClientID, envClientSecret))
	}
	if !m.CAFile.IsNull() {
		bundle, err := os.ReadFile(m.CAFile.ValueString())
		if err != nil {
			return config, diag.NewAttributeErrorDiagnostic(path.Root("ca_file"), "Unreadable ca_file", sentence(err))
		}
		config.CABundle = bundle
	}
	if !m.RequestTimeout.IsNull() {
		// Invalid ones do not come here: the environment has no stand-in that the schema's rule does not see.
		config.RequestTimeout, _ = time.ParseDuration(m.RequestTimeout.ValueString())
		config.MaxRateLimitWait = config.RequestTimeout
	}
	if !m.MaxRequestsPerSecond.IsNull() {
		config.RequestsPerSecond = m.MaxRequestsPerSecond.ValueFloat64()
	}
	return config, nil
}

// userAgent names both programs. OpenTofu cannot be told from Terraform here: it gives the version of the Terraform that it
// is compatible with.
func userAgent(version, terraformVersion string) string {
	agent := fmt.Sprintf("terraform-provider-idv/%s (Terraform %s or compatible; %s/%s)", version, terraformVersion, runtime.GOOS, runtime.GOARCH)
	if more := os.Getenv("TF_APPEND_USER_AGENT"); more != "" {
		agent += " " + more
	}
	return agent
}
