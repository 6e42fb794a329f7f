package client

// Person is who an individual is (interface: Individual). All texts are as the service writes them; "" is what it left
// out.
type Person struct {
	Email, Title, FirstName, MiddleName, LastName string
	DateOfBirth                                   string // YYYY-MM-DD
	Gender                                        string
	Address                                       Address
}

// Address of an individual (interface: Address).
type Address struct {
	Flat                                 string // flat_appartment_subbuilding
	BuildingNumber, BuildingName         string
	RoadStreet, District, TownCity       string
	StateProvinceName, StateProvinceCode string
	CountryCode, PostZipCode             string
	DateFrom, DateTo                     string // YYYY-MM-DD
}

// Person reads who the individual is from Raw. For an individual of an Application, where Raw is empty, it is zero.
func (i *Individual) Person() Sensitive[Person] {
	o, err := parseObject(i.Raw.Reveal())
	if err != nil {
		return Sensitive[Person]{}
	}
	return Hide(parsePerson(o.unwrap("individual")))
}

func parsePerson(o object) Person {
	address, _ := asObject(o.get("address"))
	return Person{
		Email:       o.text("email"),
		Title:       o.text("title"),
		FirstName:   o.text("first_name"),
		MiddleName:  o.text("middle_name"),
		LastName:    o.text("last_name"),
		DateOfBirth: o.text("date_of_birth"),
		Gender:      o.text("gender"),
		Address: Address{
			Flat:              address.text("flat_appartment_subbuilding", "flat_apartment_subbuilding"),
			BuildingNumber:    address.text("building_number"),
			BuildingName:      address.text("building_name"),
			RoadStreet:        address.text("road_street"),
			District:          address.text("district"),
			TownCity:          address.text("town_city"),
			StateProvinceName: address.text("state_province_name"),
			StateProvinceCode: address.text("state_province_code"),
			CountryCode:       address.text("country_code"),
			PostZipCode:       address.text("post_zip_code"),
			DateFrom:          address.text("date_from"),
			DateTo:            address.text("date_to"),
		},
	}
}
