package provider

import (
	"github.com/hashicorp/terraform-plugin-framework/ephemeral/schema"
	"github.com/hashicorp/terraform-plugin-framework/types"

	"github.com/mandate-io/idv/internal/client/wire"
)

// personModel is the personal data of an individual. Only ephemeral resources may have it.
type personModel struct {
	Email       types.String  `tfsdk:"email"`
	Title       types.String  `tfsdk:"title"`
	FirstName   types.String  `tfsdk:"first_name"`
	MiddleName  types.String  `tfsdk:"middle_name"`
	LastName    types.String  `tfsdk:"last_name"`
	DateOfBirth types.String  `tfsdk:"date_of_birth"`
	Gender      types.String  `tfsdk:"gender"`
	Address     *addressModel `tfsdk:"address"`
}

type addressModel struct {
	Flat              types.String `tfsdk:"flat_appartment_subbuilding"`
	BuildingNumber    types.String `tfsdk:"building_number"`
	BuildingName      types.String `tfsdk:"building_name"`
	RoadStreet        types.String `tfsdk:"road_street"`
	District          types.String `tfsdk:"district"`
	TownCity          types.String `tfsdk:"town_city"`
	StateProvinceName types.String `tfsdk:"state_province_name"`
	StateProvinceCode types.String `tfsdk:"state_province_code"`
	CountryCode       types.String `tfsdk:"country_code"`
	PostZipCode       types.String `tfsdk:"post_zip_code"`
	DateFrom          types.String `tfsdk:"date_from"`
	DateTo            types.String `tfsdk:"date_to"`
}

// flattenPerson reads who an individual is (interface: Individual, Address).
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

func flattenAddress(o wire.Object) *addressModel {
	text := func(names ...string) types.String { return stringOrNull(o.Text(names...)) }
	address := addressModel{
		Flat:              text("flat_appartment_subbuilding", "flat_apartment_subbuilding"),
		BuildingNumber:    text("building_number"),
		BuildingName:      text("building_name"),
		RoadStreet:        text("road_street"),
		District:          text("district"),
		TownCity:          text("town_city"),
		StateProvinceName: text("state_province_name"),
		StateProvinceCode: text("state_province_code"),
		CountryCode:       text("country_code"),
		PostZipCode:       text("post_zip_code"),
		DateFrom:          text("date_from"),
		DateTo:            text("date_to"),
	}
	if address == (addressModel{}) {
		return nil
	}
	return &address
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
			Attributes: map[string]schema.Attribute{
				"flat_appartment_subbuilding": sensitiveString("Flat, apartment or part of the building. The service " +
					"spells the attribute this way."),
				"building_number":     sensitiveString("Number of the building."),
				"building_name":       sensitiveString("Name of the building."),
				"road_street":         sensitiveString("Road or street."),
				"district":            sensitiveString("District."),
				"town_city":           sensitiveString("Town or city."),
				"state_province_name": sensitiveString("Name of the state or province."),
				"state_province_code": sensitiveString("Code of the state or province."),
				"country_code":        sensitiveString("Code of the country."),
				"post_zip_code":       sensitiveString("Postal or ZIP code."),
				"date_from":           sensitiveString("First day at the address, in the format `YYYY-MM-DD`."),
				"date_to":             sensitiveString("Last day at the address, in the format `YYYY-MM-DD`."),
			},
		},
	}
}
