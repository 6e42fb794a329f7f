package provider

import (
	"context"

	"github.com/hashicorp/terraform-plugin-framework-validators/float64validator"
	"github.com/hashicorp/terraform-plugin-framework-validators/stringvalidator"
	"github.com/hashicorp/terraform-plugin-framework/provider"
	"github.com/hashicorp/terraform-plugin-framework/provider/schema"
	"github.com/hashicorp/terraform-plugin-framework/schema/validator"

	"github.com/mandate-io/idv/internal/client"
)

func (p *idvProvider) Schema(_ context.Context, _ provider.SchemaRequest, resp *provider.SchemaResponse) {
	resp.Schema = schema.Schema{
		MarkdownDescription: "Manages webhook subscriptions of an identity verification service, and reads its reference data.\n\n" +
			"Arguments that are left out are taken from the environment variable that their description names. The service needs " +
			"`username` and `password`, `client_id` and `client_secret`, or both pairs.",
		Attributes: map[string]schema.Attribute{
			"base_url": schema.StringAttribute{
				Optional: true,
				MarkdownDescription: "Address of the service without `/api/v1`, such as `https://idv.example.com`. `https`, or `http` on a loopback " +
					"host. Required, here or as `IDV_BASE_URL`.",
				Validators: []validator.String{baseURLRule},
			},
			"username": schema.StringAttribute{
				Optional:            true,
				MarkdownDescription: "Name of the user, who must have been granted API permissions. Or `IDV_USERNAME`.",
				Validators:          notEmpty,
			},
			"password": schema.StringAttribute{
				Optional:            true,
				Sensitive:           true,
				MarkdownDescription: "Password of `username`. Better as `IDV_PASSWORD`, or from an ephemeral value, than in a file.",
				Validators:          notEmpty,
			},
			"client_id": schema.StringAttribute{
				Optional:            true,
				MarkdownDescription: "Client id, where the service asks for one. Or `IDV_CLIENT_ID`.",
				Validators:          notEmpty,
			},
			"client_secret": schema.StringAttribute{
				Optional:            true,
				Sensitive:           true,
				MarkdownDescription: "Secret of `client_id`. Better as `IDV_CLIENT_SECRET`, or from an ephemeral value, than in a file.",
				Validators:          notEmpty,
			},
			"token_authorization": schema.StringAttribute{
				Optional: true,
				MarkdownDescription: "The `Authorization` header of the login, whose format the service does not document. `Auto` (default): HTTP Basic " +
					"with client id and secret where both are set, else none. `None`: never. `Basic`: always.",
				Validators: []validator.String{stringvalidator.OneOf(string(client.TokenAuthorizationAuto),
					string(client.TokenAuthorizationNone), string(client.TokenAuthorizationBasic))},
			},
			"ca_file": schema.StringAttribute{
				Optional: true,
				MarkdownDescription: "File with the PEM certificates of the authorities to trust instead of the system's. Or `IDV_CA_FILE`, which " +
					"counts only where `ca_pem` is not set either.",
				Validators: notEmpty,
			},
			"ca_pem": schema.StringAttribute{
				Optional:            true,
				MarkdownDescription: "The PEM certificates themselves. Conflicts with `ca_file`.",
				Validators:          notEmpty,
			},
			"proxy_url": schema.StringAttribute{
				Optional: true, Sensitive: true,
				MarkdownDescription: "Proxy for all calls, such as `http://proxy.example.com:3128`: `http`, `https` or `socks5`, with user and password " +
					"if it asks for them. Default: what `HTTPS_PROXY` and `NO_PROXY` in the environment say.",
				Validators: []validator.String{proxyURLRule},
			},
			"request_timeout": schema.StringAttribute{
				Optional: true,
				MarkdownDescription: "How long one call may take, with its login and its repetitions: a duration such as `45s` or `2m`. Default `30s`. " +
					"A subscription whose answer does not come in time may exist all the same; too short a time makes that more likely.",
				Validators: []validator.String{durationRule},
			},
			"max_requests_per_second": schema.Float64Attribute{
				Optional: true,
				MarkdownDescription: "At most so many requests a second, shared by everything that uses this provider block; at least 1. " +
					"Default: no limit but Terraform's `-parallelism` and the `Retry-After` of the service.",
				// Below it, the calls of the usual ten workers would wait for each other longer than they may take.
				Validators: []validator.Float64{float64validator.AtLeast(1)},
			},
		},
	}
}
