package provider

import (
	"context"
	"fmt"

	"github.com/hashicorp/terraform-plugin-framework/attr"
	"github.com/hashicorp/terraform-plugin-framework/diag"
	"github.com/hashicorp/terraform-plugin-framework/path"
	"github.com/hashicorp/terraform-plugin-framework/types"
)

// existingAction is what a create does about an equal subscription, which may exist.
type existingAction int

const (
	existingStop    existingAction = iota // nothing: the diagnostics have an error
	existingSend                          // there is none
	existingUnknown                       // nobody can tell, and on_existing allows to send
	existingTake                          // it exists and is to be adopted
)

// lookupForCreate looks for an equal subscription during the plan of a create, so that the plan already says what the
// apply will find. Terraform plans a create once more right before it, so the same holds for the apply.
func (r *subscriptionResource) lookupForCreate(
	ctx context.Context, plan *subscriptionModel, writeOnly types.String, diags *diag.Diagnostics,
) {
	if r.connection == nil || plan.ApplicationID.IsNull() || !plan.isLookupKnown(ctx) {
		return
	}
	service := r.connection.client
	if _, known := plan.effectiveURL(); known && (service == nil || r.connection.isManaged(plan)) {
		return
	}
	result, err := r.lookup(ctx, service, *plan, forCreate, false)
	if plan.applyOnExisting(result, err, writeOnly, diags) == existingUnknown {
		diags.AddWarning("Cannot check for an existing webhook subscription", fmt.Sprintf(
			"It is unknown whether a subscription to %s already exists, because %s. The apply creates one. If it exists, the "+
				"service then delivers each update twice.\n\nIf you know that it exists, import it with the ID %q instead.",
			plan.displayURL(), result.reason, plan.importIDPattern()))
	}
}

// isLookupKnown reports whether the plan knows what identifies the subscription.
func (m *subscriptionModel) isLookupKnown(ctx context.Context) bool {
	for _, value := range []attr.Value{m.URL, m.ApplicationID, m.PayloadJSON, m.FieldNames, m.OnExisting} {
		raw, err := value.ToTerraformValue(ctx)
		if err != nil || !raw.IsFullyKnown() {
			return false
		}
	}
	return true
}

// setManaged records that a subscription is in the state of this run. The plan of its replacement finds it, which is no
// error.
func (c *connection) setManaged(m *subscriptionModel) {
	if _, known := m.effectiveURL(); known && c != nil {
		c.managed.Store(m.key(), true)
	}
}

func (c *connection) isManaged(m *subscriptionModel) bool {
	_, ok := c.managed.Load(m.key())
	return ok
}

// applyOnExisting decides by on_existing what a create does.
func (m *subscriptionModel) applyOnExisting(
	result lookupResult, err error, writeOnly types.String, diags *diag.Diagnostics,
) existingAction {
	adopt := m.OnExisting.ValueString() == existingAdopt
	switch {
	case err != nil:
		m.addLookupError(result, err, diags)
	case result.status == lookupAbsent:
		return existingSend
	case result.status == lookupFound && adopt:
		if m.checkSettings(result.matches, writeOnly, diags) {
			return existingTake
		}
	case result.status == lookupFound:
		m.addExistsError(diags)
	case adopt:
		m.addUnknownError(result, diags)
	default:
		return existingUnknown
	}
	return existingStop
}

func (m *subscriptionModel) addLookupError(result lookupResult, err error, diags *diag.Diagnostics) {
	const summary = "Cannot look up the webhook subscription"
	if result.answer == nil || result.answer == &answerFailure {
		addRequestError(diags, summary, err)
		return
	}
	diags.AddError(summary, fmt.Sprintf(
		"It is unknown whether a subscription to %s already exists: %s. Nothing was sent.\n\nCheck `base_url`, and any "+
			"proxy or firewall in front of the service. If the service itself responds like this, see the guide \"Import "+
			"and adoption\".", m.displayURL(), result.answer.reason))
}

func (m *subscriptionModel) addExistsError(diags *diag.Diagnostics) {
	diags.AddAttributeError(path.Root("on_existing"), "The webhook subscription already exists", fmt.Sprintf(
		"The service already delivers updates about application %d to %s. A second subscription would deliver each "+
			"update twice. Nothing was sent.\n\nChoose one of these actions:\n"+
			"* Set `on_existing = %q` to adopt the existing subscription.\n"+
			"* Import the existing subscription with the ID %q.\n"+
			"* If Terraform is about to replace it, remove `create_before_destroy` from the resource.",
		m.ApplicationID.ValueInt64(), m.displayURL(), existingAdopt, m.importIDPattern()))
}

func (m *subscriptionModel) addUnknownError(result lookupResult, diags *diag.Diagnostics) {
	diags.AddAttributeError(path.Root("on_existing"),
		"Cannot determine whether the webhook subscription exists", fmt.Sprintf(
			"The subscription cannot be read back, because %s. Nothing was sent.\n\nChoose one of these actions:\n"+
				"* If you know that it does not exist, set `on_existing = %q`, which creates it.\n"+
				"* If you know that it exists, import it with the ID %q.",
			result.reason, existingFail, m.importIDPattern()))
}

// importIDPattern leaves the URL out, which may contain a token.
func (m *subscriptionModel) importIDPattern() string {
	return fmt.Sprintf("%d/URL", m.ApplicationID.ValueInt64())
}
