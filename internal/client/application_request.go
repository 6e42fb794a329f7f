package client

// NewApplication is what CreateApplication sends (interface: Create application). Empty fields are left out.
type NewApplication struct {
	Name Secret
	// Reference is unique in the account, at most 150 characters (interface: Limits).
	Reference                 string
	MandateTypeID             int64
	SuppressEmailNotification bool
	Individuals               []NewIndividual
}

// NewIndividual is an individual of a NewApplication (interface: Individual). All of it is personal data.
type NewIndividual struct {
	Email, Title, FirstName, MiddleName, LastName Secret
	DateOfBirth                                   Secret // YYYY-MM-DD
	Gender, Reference                             Secret
}

type applicationBody struct {
	Name                      string           `json:"name"`
	Reference                 string           `json:"reference,omitempty"`
	MandateType               int64            `json:"mandate_type,omitempty"`
	SuppressEmailNotification bool             `json:"suppress_email_notification"`
	Individuals               []individualBody `json:"individuals"`
}

type individualBody struct {
	Email       string `json:"email,omitempty"`
	Title       string `json:"title,omitempty"`
	FirstName   string `json:"first_name,omitempty"`
	MiddleName  string `json:"middle_name,omitempty"`
	LastName    string `json:"last_name,omitempty"`
	DateOfBirth string `json:"date_of_birth,omitempty"`
	Gender      string `json:"gender,omitempty"`
	Reference   string `json:"reference,omitempty"`
}

func (a NewApplication) encode() []byte {
	body := applicationBody{
		Name: a.Name.Reveal(), Reference: a.Reference, MandateType: a.MandateTypeID,
		SuppressEmailNotification: a.SuppressEmailNotification, Individuals: []individualBody{},
	}
	for _, i := range a.Individuals {
		body.Individuals = append(body.Individuals, individualBody{
			Email:       i.Email.Reveal(),
			Title:       i.Title.Reveal(),
			FirstName:   i.FirstName.Reveal(),
			MiddleName:  i.MiddleName.Reveal(),
			LastName:    i.LastName.Reveal(),
			DateOfBirth: i.DateOfBirth.Reveal(),
			Gender:      i.Gender.Reveal(),
			Reference:   i.Reference.Reveal(),
		})
	}
	return encode(body)
}
