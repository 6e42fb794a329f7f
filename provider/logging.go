package provider

import (
	"context"

	"github.com/hashicorp/terraform-plugin-framework/types"
	"github.com/hashicorp/terraform-plugin-log/tflog"

	"github.com/mandate-io/idv/internal/client"
)

// masked keeps the secrets of the provider block out of what is logged with the context, whoever may put them in. No line
// is meant to hold one.
func (m providerModel) masked(ctx context.Context) context.Context {
	var secrets []string
	for _, secret := range []types.String{m.Password, m.ClientSecret, m.ProxyURL} {
		if secret.ValueString() != "" {
			secrets = append(secrets, secret.ValueString())
		}
	}
	return tflog.MaskMessageStrings(tflog.MaskAllFieldValuesStrings(ctx, secrets...), secrets...)
}

// logRequests logs one line per request at level DEBUG: what the client says may be told, and nothing else. The context
// is that of Configure, for its logger: the client serves all calls of the run and knows none of theirs.
func (m providerModel) logRequests(ctx context.Context) func(client.RequestResult) {
	ctx = context.WithoutCancel(ctx)
	return func(r client.RequestResult) {
		fields := map[string]any{
			"operation": string(r.Operation), "method": r.Method, "status": r.Status, "duration_ms": r.Duration.Milliseconds(),
		}
		if r.Failed {
			fields["outcome"], fields["kind"] = r.Outcome.String(), string(r.Kind)
		}
		// Masked for this line alone: tflog masks a line, written or not, in a map that belongs to the context, without a lock.
		// Requests that end together would end the process.
		tflog.Debug(m.masked(ctx), "request to the identity verification service", fields)
	}
}
