package client

import (
	"context"
	"encoding/json"
)

// Individual as the service returns it (interface: Individual), without the person's details: Person reads those from
// Raw.
type Individual struct {
	ID int64 // 0 if the service gave none, or several
	// Reference and Email are "" if the service gave none, or several.
	Reference, Email Secret
	State            State
	// Counters as the service counts, which can differ from Checks.
	ChecksInReview, ChecksPending, ChecksPassed int32
	TermsAccepted                               bool
	CompletedActions                            []Action
	Checks                                      []Check
	// Raw is the whole response to RetrieveIndividual, with personal data. In an Application it is empty.
	Raw Sensitive[json.RawMessage]
}

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

// RetrieveIndividual reads an individual: GET /ext/individuals/{id}. The shape of the response is not documented: our
// reading is an individual as in an application, alone or wrapped in data or individual. Transient faults are retried.
// Errors: IsNotFound if the service does not know the id; KindUnreadable if the response is no JSON object, or
// describes another individual.
func (c *Client) RetrieveIndividual(ctx context.Context, id int64) (*Individual, error) {
	var individual *Individual
	parse := func(r *response) error {
		o, err := r.object()
		if err != nil {
			return unusable(r, err, "the response is not a JSON object")
		}
		var d decoder
		parsed := d.individual(o.unwrap("individual"))
		if err := d.err(); err != nil {
			return unusable(r, err, "")
		}
		if parsed.ID != 0 && parsed.ID != id {
			return unreadable(r, "the response describes another individual")
		}
		parsed.Raw = r.raw()
		individual = &parsed
		return nil
	}
	_, err := c.do(ctx, request{op: OpRetrieveIndividual, id: id, parse: parse})
	return individual, err
}

// ResendInvites e-mails an individual a new invitation with a new code: POST /ext/individuals/{id}/invites/resend with
// an empty object (payload and response are not documented: our reading; any 2xx is success). It sends one request, and
// the end of ctx does not cancel a request that was sent. Only if the service refuses the empty object, which proves
// that nothing was done, it sends one without a body, and if that is refused, too, one without a Content-Type. It
// remembers which of them the service accepts.
//
// Errors: NotSent and Refused (KindNotFound, KindInvalid, ...): no e-mail was sent. Unknown: one may have been sent,
// and a repetition may send another.
func (c *Client) ResendInvites(ctx context.Context, individualID int64) error {
	_, err := c.doWithReadings(ctx, request{op: OpResendInvites, id: individualID}, &c.resend)
	return err
}

// ResetIndividual deletes what an individual has entered, resets the checks, and e-mails a new code: POST
// /ext/individuals/{id}/reset with an empty object. The ids of checks may change. Otherwise as ResendInvites.
func (c *Client) ResetIndividual(ctx context.Context, individualID int64) error {
	_, err := c.doWithReadings(ctx, request{op: OpResetIndividual, id: individualID}, &c.reset)
	return err
}

func (d *decoder) individual(o object) Individual {
	individual := Individual{
		ID:               o.id("id"),
		State:            d.state(o.get("status", "state")),
		TermsAccepted:    o.boolean("terms_accepted"),
		ChecksInReview:   o.count("checks_in_review"),
		ChecksPending:    o.count("checks_in_pending"),
		ChecksPassed:     o.count("checks_passed"),
		CompletedActions: d.actions(o, "completed_actions"),
	}
	individual.Reference, individual.Email = d.identifier(o, "reference"), d.identifier(o, "email")
	for check := range o.objects("checks") {
		if !d.take() {
			break
		}
		individual.Checks = append(individual.Checks, d.check(check))
	}
	return individual
}

// identifier reads a member that tells individuals apart.
func (d *decoder) identifier(o object, name string) Secret {
	member, err := o.unambiguous(name)
	if err != nil {
		return Secret{}
	}
	text, _ := parseString(member)
	d.texts += len(text)
	return Hide(text)
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
