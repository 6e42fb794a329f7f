package provider

import (
	"context"
	"encoding/base64"
	"fmt"
	"maps"
	"strings"
	"time"

	"github.com/hashicorp/terraform-plugin-framework-validators/int64validator"
	"github.com/hashicorp/terraform-plugin-framework/attr"
	"github.com/hashicorp/terraform-plugin-framework/ephemeral"
	"github.com/hashicorp/terraform-plugin-framework/ephemeral/schema"
	"github.com/hashicorp/terraform-plugin-framework/schema/validator"
	"github.com/hashicorp/terraform-plugin-framework/types"

	"github.com/mandate-io/idv/internal/client"
	"github.com/mandate-io/idv/internal/client/wire"
)

// ephemeralResource is what all ephemeral resources have.
type ephemeralResource struct {
	typeName   string
	schema     schema.Schema
	connection *connection
}

func (e *ephemeralResource) Metadata(_ context.Context, _ ephemeral.MetadataRequest, resp *ephemeral.MetadataResponse) {
	resp.TypeName = e.typeName
}

func (e *ephemeralResource) Schema(_ context.Context, _ ephemeral.SchemaRequest, resp *ephemeral.SchemaResponse) {
	resp.Schema = e.schema
}

func (e *ephemeralResource) Configure(
	_ context.Context, req ephemeral.ConfigureRequest, _ *ephemeral.ConfigureResponse,
) {
	e.connection, _ = req.ProviderData.(*connection)
}

// open reads the configuration of an ephemeral resource. It returns nil after an error.
func (e *ephemeralResource) open(
	ctx context.Context, req ephemeral.OpenRequest, resp *ephemeral.OpenResponse, config any,
) *client.Client {
	resp.Diagnostics.Append(req.Config.Get(ctx, config)...)
	if resp.Diagnostics.HasError() {
		return nil
	}
	return e.connection.serviceClient(&resp.Diagnostics)
}

func requiredID(description string) schema.Int64Attribute {
	return schema.Int64Attribute{
		Required: true, MarkdownDescription: description, Validators: []validator.Int64{int64validator.AtLeast(1)},
	}
}

func computedString(description string) schema.StringAttribute {
	return schema.StringAttribute{Computed: true, MarkdownDescription: description}
}

func computedInt64(description string) schema.Int64Attribute {
	return schema.Int64Attribute{Computed: true, MarkdownDescription: description}
}

func computedInt32(description string) schema.Int32Attribute {
	return schema.Int32Attribute{Computed: true, MarkdownDescription: description}
}

func computedBool(description string) schema.BoolAttribute {
	return schema.BoolAttribute{Computed: true, MarkdownDescription: description}
}

func computedList(description string, item map[string]schema.Attribute) schema.ListNestedAttribute {
	return schema.ListNestedAttribute{
		Computed: true, MarkdownDescription: description,
		NestedObject: schema.NestedAttributeObject{Attributes: item},
	}
}

// sensitiveString is for values that Terraform's own errors, which quote values, must not show.
func sensitiveString(description string) schema.StringAttribute {
	return schema.StringAttribute{Computed: true, Sensitive: true, MarkdownDescription: description}
}

var _ ephemeral.EphemeralResourceWithRenew = (*accessTokenEphemeral)(nil)

type accessTokenEphemeral struct{ ephemeralResource }

type accessTokenModel struct {
	Token   types.String `tfsdk:"token"`
	RenewAt types.String `tfsdk:"renew_at"`
}

func newAccessTokenEphemeral() ephemeral.EphemeralResource {
	return &accessTokenEphemeral{ephemeralResource{typeName: "idv_access_token", schema: schema.Schema{
		MarkdownDescription: "Provides the access token of the provider configuration to other providers and to " +
			"provisioners that send requests to the service. Terraform stores the token neither in the state nor in " +
			"the plan. The provider itself uses the same token, so do not revoke it.",
		Attributes: map[string]schema.Attribute{
			"token": sensitiveString("Access token, for the header `Authorization: Bearer TOKEN`."),
			"renew_at": computedString("Time until which the token can be used safely, in RFC 3339 format and UTC: four " +
				"fifths of the lifetime that the service reports, or of one hour if it reports none."),
		},
	}}}
}

func (e *accessTokenEphemeral) Open(ctx context.Context, _ ephemeral.OpenRequest, resp *ephemeral.OpenResponse) {
	service := e.connection.serviceClient(&resp.Diagnostics)
	if service == nil {
		return
	}
	token, err := service.AccessToken(ctx)
	if err != nil {
		resp.Diagnostics.AddError("Cannot get an access token", errorDetail(err))
		return
	}
	resp.Diagnostics.Append(resp.Result.Set(ctx, accessTokenModel{
		Token:   types.StringValue(token.Value.Reveal()),
		RenewAt: types.StringValue(token.RenewAt.UTC().Format(time.RFC3339)),
	})...)
	resp.RenewAt = token.RenewAt
}

// Renew only warns. The service cannot extend a token, and Terraform has no way to replace one that it handed out. A
// login here would do harm if the service revokes older tokens. For the same reason there is no Close: the provider
// still uses the token.
func (e *accessTokenEphemeral) Renew(_ context.Context, _ ephemeral.RenewRequest, resp *ephemeral.RenewResponse) {
	resp.Diagnostics.AddWarning("The access token expires while it is in use",
		"The token of the ephemeral resource idv_access_token has been in use for four fifths of its lifetime, and the "+
			"service cannot extend it. The service may reject later requests with this token (HTTP 401).\n\n"+
			"Apply fewer changes in one run, so that the token is needed for a shorter time.")
}

type applicationEphemeral struct{ ephemeralResource }

type applicationModel struct {
	ApplicationID types.Int64       `tfsdk:"application_id"`
	Name          types.String      `tfsdk:"name"`
	Reference     types.String      `tfsdk:"reference"`
	State         types.String      `tfsdk:"state"`
	MandateType   *referenceModel   `tfsdk:"mandate_type"`
	Archived      types.Bool        `tfsdk:"archived"`
	Actions       []actionModel     `tfsdk:"available_actions"`
	Individuals   []individualModel `tfsdk:"individuals"`
	JSON          types.String      `tfsdk:"json"`
}

func newApplicationEphemeral() ephemeral.EphemeralResource {
	return &applicationEphemeral{ephemeralResource{typeName: "idv_application", schema: schema.Schema{
		MarkdownDescription: "Reads an application (mandate) with its individuals and checks. The result contains " +
			"personal data, so Terraform stores it neither in the state nor in the plan. Every plan and every apply " +
			"that needs the application reads it again.",
		Attributes: map[string]schema.Attribute{
			"application_id": requiredID("ID of the application."),
			"name":           sensitiveString("Name of the application."),
			"reference":      sensitiveString("Reference of the application."),
			"state":          computedString("State of the application, as the service names it."),
			"mandate_type": schema.SingleNestedAttribute{
				Computed:            true,
				MarkdownDescription: "Mandate type of the application.",
				Attributes: map[string]schema.Attribute{
					"id":          computedInt64("ID of the mandate type; null if the service returns none."),
					"code":        computedString("Code of the mandate type; null if the service returns none."),
					"name":        computedString("Display name of the mandate type; null if the service returns none."),
					"description": computedString("Description of the mandate type; null if the service returns none."),
				},
			},
			"archived":          computedBool("Whether the application is archived."),
			"available_actions": actionsAttribute("Actions that the service offers for the application."),
			"individuals": computedList("Progress of the individuals, in the order of the response, without personal data.",
				individualAttributes()),
			"json": sensitiveString("Complete response of the service, as JSON with sorted keys."),
		},
	}}}
}

func (e *applicationEphemeral) Open(ctx context.Context, req ephemeral.OpenRequest, resp *ephemeral.OpenResponse) {
	var model applicationModel
	service := e.open(ctx, req, resp, &model)
	if service == nil {
		return
	}
	application, err := service.RetrieveApplication(ctx, model.ApplicationID.ValueInt64())
	if err != nil {
		resp.Diagnostics.AddError("Cannot read the application", errorDetail(err))
		return
	}
	model.flatten(application)
	resp.Diagnostics.Append(resp.Result.Set(ctx, model)...)
}

func (m *applicationModel) flatten(application *client.Application) {
	mandateType := flattenReference(application.MandateType)
	m.Name = stringOrNull(application.Name.Reveal())
	m.Reference = stringOrNull(application.Reference)
	m.State = stringOrNull(application.State.Name)
	m.MandateType = &mandateType
	m.Archived = types.BoolValue(application.Archived)
	m.Actions = flattenActions(application.Actions)
	m.Individuals = convertAll(application.Individuals, func(i client.Individual) individualModel {
		return flattenIndividual(&i)
	})
	m.JSON = normalizeJSON(types.StringValue(string(application.Raw.Reveal())))
}

type individualEphemeral struct{ ephemeralResource }

type individualEphemeralModel struct {
	IndividualID types.Int64 `tfsdk:"individual_id"`
	individualModel
	personModel
	JSON types.String `tfsdk:"json"`
}

func newIndividualEphemeral() ephemeral.EphemeralResource {
	attributes := map[string]schema.Attribute{
		"individual_id": requiredID("ID of the individual."),
		"json":          sensitiveString("Complete response of the service, as JSON with sorted keys."),
	}
	maps.Copy(attributes, individualAttributes())
	maps.Copy(attributes, personAttributes())
	return &individualEphemeral{ephemeralResource{typeName: "idv_individual", schema: schema.Schema{
		MarkdownDescription: "Reads the personal data of an individual and the progress of the verification. Terraform " +
			"stores the result neither in the state nor in the plan. Every plan and every apply that needs the " +
			"individual reads it again. An attribute that the service does not return is null.",
		Attributes: attributes,
	}}}
}

func (e *individualEphemeral) Open(ctx context.Context, req ephemeral.OpenRequest, resp *ephemeral.OpenResponse) {
	var model individualEphemeralModel
	service := e.open(ctx, req, resp, &model)
	if service == nil {
		return
	}
	individual, err := service.RetrieveIndividual(ctx, model.IndividualID.ValueInt64())
	if err != nil {
		resp.Diagnostics.AddError("Cannot read the individual", errorDetail(err))
		return
	}
	model.individualModel = flattenIndividual(individual)
	model.personModel = flattenPerson(individual.Details().Reveal())
	model.JSON = normalizeJSON(types.StringValue(string(individual.Raw.Reveal())))
	resp.Diagnostics.Append(resp.Result.Set(ctx, model)...)
}

// maxReportMiB keeps the report, with base64, below 64 MiB: the largest message that a provider can send.
const maxReportMiB = 16

type individualReportEphemeral struct{ ephemeralResource }

type individualReportModel struct {
	IndividualID  types.Int64  `tfsdk:"individual_id"`
	ContentType   types.String `tfsdk:"content_type"`
	ContentBase64 types.String `tfsdk:"content_base64"`
}

func newIndividualReportEphemeral() ephemeral.EphemeralResource {
	return &individualReportEphemeral{ephemeralResource{typeName: "idv_individual_report", schema: schema.Schema{
		MarkdownDescription: fmt.Sprintf("Downloads the report about an individual. The service has a report once the "+
			"individual has completed the checks. The report is personal data, so Terraform stores it neither in the "+
			"state nor in the plan. Every plan and every apply that needs the report downloads it again. A report "+
			"above %d MiB is an error.\n\nThe service does not document the format: an `application/json` report may contain "+
			"the document or its address. On Linux, an environment variable of a provisioner holds at most 128 KiB; pass a "+
			"larger report to a write-only argument.", maxReportMiB),
		Attributes: map[string]schema.Attribute{
			"individual_id":  requiredID("ID of the individual."),
			"content_type":   computedString("Media type of the report; null if the service returns none."),
			"content_base64": sensitiveString("Content of the report, encoded as base64."),
		},
	}}}
}

func (e *individualReportEphemeral) Open(
	ctx context.Context, req ephemeral.OpenRequest, resp *ephemeral.OpenResponse,
) {
	var model individualReportModel
	service := e.open(ctx, req, resp, &model)
	if service == nil {
		return
	}
	report, err := service.IndividualReport(ctx, model.IndividualID.ValueInt64(), maxReportMiB<<20)
	if err != nil {
		resp.Diagnostics.AddError("Cannot download the report", reportErrorDetail(err))
		return
	}
	defer report.Close()
	model.ContentType = stringOrNull(report.ContentType)
	model.ContentBase64 = types.StringValue(base64.StdEncoding.EncodeToString(report.Content))
	resp.Diagnostics.Append(resp.Result.Set(ctx, model)...)
}

func reportErrorDetail(err error) string {
	switch client.KindOf(err) {
	case client.KindTooLarge:
		return fmt.Sprintf("The report is larger than %d MiB, the most that the provider can return.\n\n"+
			"Download it with another tool. The ephemeral resource idv_access_token provides the token.", maxReportMiB)
	case client.KindInvalid, client.KindNotFound, client.KindConflict, client.KindNotReady, client.KindUnreadable:
		return messageFilter{}.errorCause(err) + "\n\nThe service has a report once the individual has completed the " +
			"checks. The ephemeral resource idv_individual shows the progress."
	default:
		return errorDetail(err)
	}
}

// individualModel is the progress of an individual. The responses for applications and for individuals both have it.
type individualModel struct {
	ID               types.Int64   `tfsdk:"id"`
	Reference        types.String  `tfsdk:"reference"`
	State            types.String  `tfsdk:"state"`
	TermsAccepted    types.Bool    `tfsdk:"terms_accepted"`
	ChecksInReview   types.Int32   `tfsdk:"checks_in_review"`
	ChecksPending    types.Int32   `tfsdk:"checks_pending"`
	ChecksPassed     types.Int32   `tfsdk:"checks_passed"`
	CompletedActions []actionModel `tfsdk:"completed_actions"`
	Checks           []checkModel  `tfsdk:"checks"`
}

type actionModel struct {
	ID    types.Int64  `tfsdk:"id"`
	Name  types.String `tfsdk:"name"`
	Title types.String `tfsdk:"title"`
}

type checkModel struct {
	ID    types.Int64  `tfsdk:"id"`
	Name  types.String `tfsdk:"name"`
	Title types.String `tfsdk:"title"`
	State types.String `tfsdk:"state"`
}

func flattenIndividual(individual *client.Individual) individualModel {
	return individualModel{
		ID:               int64OrNull(individual.ID),
		Reference:        stringOrNull(individual.Reference.Reveal()),
		State:            stringOrNull(individual.State.Name),
		TermsAccepted:    types.BoolValue(individual.TermsAccepted),
		ChecksInReview:   types.Int32Value(individual.ChecksInReview),
		ChecksPending:    types.Int32Value(individual.ChecksPending),
		ChecksPassed:     types.Int32Value(individual.ChecksPassed),
		CompletedActions: flattenActions(individual.CompletedActions),
		Checks: convertAll(individual.Checks, func(c client.Check) checkModel {
			return checkModel{int64OrNull(c.ID), stringOrNull(c.Name), stringOrNull(c.Title), stringOrNull(c.State.Name)}
		}),
	}
}

func flattenActions(actions []client.Action) []actionModel {
	return convertAll(actions, func(a client.Action) actionModel {
		return actionModel{int64OrNull(a.ID), stringOrNull(a.Name), stringOrNull(a.Title)}
	})
}

func individualAttributes() map[string]schema.Attribute {
	return map[string]schema.Attribute{
		"id":                computedInt64("ID of the individual; null if the service returns none."),
		"reference":         sensitiveString("Reference of the individual."),
		"state":             computedString("State of the individual, as the service names it."),
		"terms_accepted":    computedBool("Whether the individual has accepted the terms."),
		"checks_in_review":  computedInt32("Number of checks in review, as the service counts them."),
		"checks_pending":    computedInt32("Number of pending checks, as the service counts them."),
		"checks_passed":     computedInt32("Number of passed checks, as the service counts them."),
		"completed_actions": actionsAttribute("Actions that the individual has completed."),
		"checks": computedList("Checks, in the order of the response, with their results in `json`.",
			map[string]schema.Attribute{
				"id":    computedInt64("ID of the check; null if the service returns none."),
				"name":  computedString("Name of the check."),
				"title": computedString("Display name of the check."),
				"state": computedString("State of the check, as the service names it."),
			}),
	}
}

func actionsAttribute(description string) schema.ListNestedAttribute {
	return computedList(description, map[string]schema.Attribute{
		"id":    computedInt64("ID of the action; null if the service returns none."),
		"name":  computedString("Name of the action."),
		"title": computedString("Display name of the action."),
	})
}

// personModel is the personal data of an individual. Only ephemeral resources may have it.
type personModel struct {
	Email       types.String `tfsdk:"email"`
	Title       types.String `tfsdk:"title"`
	FirstName   types.String `tfsdk:"first_name"`
	MiddleName  types.String `tfsdk:"middle_name"`
	LastName    types.String `tfsdk:"last_name"`
	DateOfBirth types.String `tfsdk:"date_of_birth"`
	Gender      types.String `tfsdk:"gender"`
	Address     types.Object `tfsdk:"address"`
}

// flattenPerson reads who an individual is (interface: Individual).
func flattenPerson(o wire.Object) personModel {
	text := func(name string) types.String { return stringOrNull(o.Text(name)) }
	return personModel{
		Email:       text("email"),
		Title:       text("title"),
		FirstName:   text("first_name"),
		MiddleName:  text("middle_name"),
		LastName:    text("last_name"),
		DateOfBirth: text("date_of_birth"),
		Gender:      text("gender"),
		Address:     flattenAddress(o.Get("address").Object()),
	}
}

// flattenAddress returns null for an address without a text.
func flattenAddress(o wire.Object) types.Object {
	textTypes, texts := map[string]attr.Type{}, map[string]attr.Value{}
	empty := true
	for name := range addressAttributes {
		// The second name is the one without the misspelling of the service.
		text := o.Text(name, strings.Replace(name, "appartment", "apartment", 1))
		textTypes[name], texts[name] = types.StringType, stringOrNull(text)
		empty = empty && text == ""
	}
	if empty {
		return types.ObjectNull(textTypes)
	}
	return types.ObjectValueMust(textTypes, texts)
}

func personAttributes() map[string]schema.Attribute {
	return map[string]schema.Attribute{
		"email":         sensitiveString("E-mail address."),
		"title":         sensitiveString("Title."),
		"first_name":    sensitiveString("First name."),
		"middle_name":   sensitiveString("Middle name."),
		"last_name":     sensitiveString("Last name."),
		"date_of_birth": sensitiveString("Date of birth, in the format `YYYY-MM-DD`."),
		"gender":        sensitiveString("Gender."),
		"address": schema.SingleNestedAttribute{
			Computed:            true,
			MarkdownDescription: "Address; null if the service returns none.",
			Attributes:          addressAttributes,
		},
	}
}

// addressAttributes have the names of the fields of the service (interface: Address).
var addressAttributes = map[string]schema.Attribute{
	"flat_appartment_subbuilding": sensitiveString("Flat, apartment or part of the building, as the service spells it."),
	"building_number":             sensitiveString("Number of the building."),
	"building_name":               sensitiveString("Name of the building."),
	"road_street":                 sensitiveString("Road or street."),
	"district":                    sensitiveString("District."),
	"town_city":                   sensitiveString("Town or city."),
	"state_province_name":         sensitiveString("Name of the state or province."),
	"state_province_code":         sensitiveString("Code of the state or province."),
	"country_code":                sensitiveString("Code of the country."),
	"post_zip_code":               sensitiveString("Postal or ZIP code."),
	"date_from":                   sensitiveString("First day at the address, in the format `YYYY-MM-DD`."),
	"date_to":                     sensitiveString("Last day at the address, in the format `YYYY-MM-DD`."),
}
