package provider

import (
	"context"

	"github.com/hashicorp/terraform-plugin-framework/types"
	"github.com/hashicorp/terraform-plugin-log/tflog"

	"github.com/mandate-io/idv/internal/client"
)

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
