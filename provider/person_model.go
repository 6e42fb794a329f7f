package provider

import (
	"github.com/hashicorp/terraform-plugin-framework/ephemeral/schema"
	"github.com/hashicorp/terraform-plugin-framework/types"

	"github.com/mandate-io/idv/internal/client"
)

// personModel is who an individual is. Only ephemeral resources may have it.
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

func personModelOf(person client.Person) personModel {
	model := personModel{
		Email: textOrNull(person.Email), Title: textOrNull(person.Title), FirstName: textOrNull(person.FirstName),
		MiddleName: textOrNull(person.MiddleName), LastName: textOrNull(person.LastName),
		DateOfBirth: textOrNull(person.DateOfBirth), Gender: textOrNull(person.Gender),
	}
	if a := person.Address; a != (client.Address{}) {
		model.Address = &addressModel{
			Flat: textOrNull(a.Flat), BuildingNumber: textOrNull(a.BuildingNumber), BuildingName: textOrNull(a.BuildingName),
			RoadStreet: textOrNull(a.RoadStreet), District: textOrNull(a.District), TownCity: textOrNull(a.TownCity),
			StateProvinceName: textOrNull(a.StateProvinceName), StateProvinceCode: textOrNull(a.StateProvinceCode),
			CountryCode: textOrNull(a.CountryCode), PostZipCode: textOrNull(a.PostZipCode),
			DateFrom: textOrNull(a.DateFrom), DateTo: textOrNull(a.DateTo),
		}
	}
	return model
}

func personAttributes() map[string]schema.Attribute {
	return map[string]schema.Attribute{
		"email":         sensitiveText("E-mail address."),
		"title":         sensitiveText("Title."),
		"first_name":    sensitiveText("First name."),
		"middle_name":   sensitiveText("Middle name."),
		"last_name":     sensitiveText("Last name."),
		"date_of_birth": sensitiveText("Date of birth, `YYYY-MM-DD`."),
		"gender":        sensitiveText("Gender."),
		"address": schema.SingleNestedAttribute{
			Computed:            true,
			MarkdownDescription: "Address; null if the service knows none.",
			Attributes: map[string]schema.Attribute{
				"flat_appartment_subbuilding": sensitiveText("Flat, apartment or part of the building; spelled as the service does."),
				"building_number":             sensitiveText("Number of the building."),
				"building_name":               sensitiveText("Name of the building."),
				"road_street":                 sensitiveText("Road or street."),
				"district":                    sensitiveText("District."),
				"town_city":                   sensitiveText("Town or city."),
				"state_province_name":         sensitiveText("Name of the state or province."),
				"state_province_code":         sensitiveText("Code of the state or province."),
				"country_code":                sensitiveText("Code of the country."),
				"post_zip_code":               sensitiveText("Post or ZIP code."),
				"date_from":                   sensitiveText("Since when, `YYYY-MM-DD`."),
				"date_to":                     sensitiveText("Until when, `YYYY-MM-DD`."),
			},
		},
	}
}
