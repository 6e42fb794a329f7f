package config_test

import (
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/mandate-io/idv/internal/sandbox/config"
	"github.com/mandate-io/idv/internal/sandbox/control"
	"github.com/mandate-io/idv/internal/sandbox/dialect"
)

const whole = `
seed: 7
record_bodies: true
accounts:
- name: team-a
  username: user
  password: "201"
  token_lifetime_seconds: 60
  start_time: 2031-05-01T12:00:00Z
  autoplay: {enabled: true, delay_ms: 10}
  dialect: {createStatus: 201, readLag: 2, ids: string}
  mandate_types: &types
  - {id: 5, code: acme-kyc, name: Acme KYC, checks: [document, pep_screening]}
  countries: [{code: "NO", name: Norway}]
  document_types: [{id: 9, code: passport, name: Passport}]
  applications:
  - id: 4711
    name: Acme
    reference: ACME-1
    mandate_type: acme-kyc
    state: in review
    archived: true
    result: review
    individuals:
    - {email: jane@example.com, first_name: Jane, date_of_birth: 1990-01-31, reference: "007"}
  faults: [{operation: token, kind: answer, status: 503, times: 2}]
- {name: team-b, username: id, password: secret, client_id: id, client_secret: secret, mandate_types: *types}
`

func wanted() config.Config {
	types := []config.MandateType{
		{ID: 5, Code: "acme-kyc", Name: "Acme KYC", Checks: []string{"document", "pep_screening"}},
	}
	return config.Config{Seed: 7, RecordBodies: true, Accounts: []config.Account{
		{
			Name: "team-a", Username: "user", Password: "201", TokenLifetimeSeconds: 60,
			StartTime: time.Date(2031, 5, 1, 12, 0, 0, 0, time.UTC), Autoplay: control.Autoplay{Enabled: true, DelayMillis: 10},
			Dialect:      dialect.Dialect{CreateStatus: dialect.CreateStatus201, ReadLag: 2, IDs: dialect.IDsString},
			MandateTypes: types, Countries: []config.Country{{Code: "NO", Name: "Norway"}},
			DocumentTypes: []config.DocumentType{{ID: 9, Code: "passport", Name: "Passport"}},
			Applications: []config.Application{{
				ID: 4711, Name: "Acme", Reference: "ACME-1", MandateType: "acme-kyc", State: "in review", Archived: true,
				Result: control.ResultReview, Individuals: []config.Individual{{
					Email: "jane@example.com", FirstName: "Jane", DateOfBirth: "1990-01-31", Reference: "007",
				}},
			}},
			Faults: []control.Fault{{Operation: control.Token, Kind: control.Answer, Status: 503, Times: 2}},
		},
		{
			Name: "team-b", Username: "id", Password: "secret", ClientID: "id", ClientSecret: "secret", MandateTypes: types,
		},
	}}
}

func TestParse(t *testing.T) {
	got, err := config.Parse([]byte(whole))
	if err != nil {
		t.Fatal(err)
	}
	want, err := wanted().Complete()
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
	if got.Accounts[1].TokenLifetimeSeconds != 3600 || len(got.Accounts[1].Countries) != 5 {
		t.Errorf("the defaults are missing: %+v", got.Accounts[1])
	}
}

func TestNothingIsTheDefault(t *testing.T) {
	for _, file := range []string{"", "# nothing\n", "{}", "accounts: []"} {
		got, err := config.Parse([]byte(file))
		if err != nil || len(got.Accounts) != 1 || got.Accounts[0].Username != config.DefaultUsername {
			t.Errorf("%q: %+v, %v", file, got, err)
		}
	}
}

// What Encode writes, Parse reads. It is what a person would write.
func TestEncode(t *testing.T) {
	file, err := wanted().Encode()
	if err != nil {
		t.Fatal(err)
	}
	got, err := config.Parse(file)
	if err != nil {
		t.Fatalf("%v\n%s", err, file)
	}
	want, err := wanted().Complete()
	if diff := cmp.Diff(want, got); diff != "" || err != nil {
		t.Error(diff, err)
	}
	for _, line := range []string{
		"seed: 7\n", `password: "201"`, "createStatus: \"201\"", "start_time: \"2031-05-01T12:00:00Z\"",
		"\n          mandate_type: acme-kyc\n",
	} {
		if !strings.Contains(string(file), line) {
			t.Errorf("no %q in\n%s", line, file)
		}
	}
	if strings.Contains(string(file), "tokenType") {
		t.Errorf("it has a switch with its default:\n%s", file)
	}
}

func TestWrongFiles(t *testing.T) {
	account := func(fields string) string { return "accounts: [{" + fields + "}]" }
	for name, c := range map[string]struct{ file, want string }{
		"no YAML":                {"accounts: [", "line 1"},
		"a list":                 {"- seed", "the file must have fields"},
		"a key that is a number": {"1: 2", "every key must be a text"},
		"a key that is there twice": {
			"seed: 1\nseed: 2", `mapping key "seed" already defined at line 1`,
		},
		"an alias of itself":      {"seed: &a [*a]", "anchor 'a' value contains itself"},
		"an unknown field":        {"sed: 1", "sed: unknown field; docs/sandbox.md lists the fields"},
		"one of an account":       {account("user: x"), "accounts[0]: user: unknown field; docs/sandbox.md"},
		"a number in words":       {account("token_lifetime_seconds: x"), "accounts[0]: token_lifetime_seconds: must be an"},
		"a list that is none":     {account("applications: {}"), "applications: must be a list, not"},
		"a switch":                {account("dialect: {wrap: twice}"), "accounts[0]: dialect switch wrap cannot be"},
		"an unknown switch":       {account("dialect: {klingon: 1}"), "accounts[0]: unknown dialect switch"},
		"no dialect":              {account("dialect: POST"), "accounts[0]: dialect: must be an object"},
		"a name":                  {account("name: Team A"), "accounts[0]: name: must have"},
		"half a pair":             {account("username: x"), "accounts[0]: password: username and password belong together"},
		"half of the other":       {account("client_secret: x"), "accounts[0]: client_secret: client_id and client_secret"},
		"a lifetime":              {account("token_lifetime_seconds: -1"), "token_lifetime_seconds: must be 1 to 3153600000"},
		"317 years":               {account("token_lifetime_seconds: 10000000000"), "token_lifetime_seconds: must be 1 to"},
		"a day":                   {account("start_time: 2031-05-01"), "accounts[0]: start_time: must be a time in RFC 3339"},
		"a year":                  {account("start_time: 2031"), "accounts[0]: start_time: must be a string"},
		"the year 9999":           {account("start_time: 9999-01-01T00:00:00Z"), "accounts[0]: start_time: must be within"},
		"the zero time":           {account("start_time: 0001-01-01T00:00:00Z"), "accounts[0]: start_time: must be within"},
		"no mandate type":         {account("mandate_types: []"), "accounts[0]: mandate_types: must have at least one"},
		"a delay":                 {account("autoplay: {delay_ms: -1}"), "autoplay.delay_ms: must be 1 to 3600000"},
		"a fault":                 {account("faults: [{operation: token, kind: x}]"), "faults[0].kind: must be one of"},
		"a mandate type":          {account("mandate_types: [{code: a}]"), "mandate_types[0].id: must be 1 or more"},
		"without checks":          {account("mandate_types: [{id: 1, code: a, name: A}]"), "mandate_types[0].checks: must"},
		"a country":               {account("countries: [{code: GB}]"), "countries[0]: needs a code and a name"},
		"a document type":         {account("document_types: [{code: a, name: A}]"), "document_types[0]: needs an id"},
		"an unknown mandate type": {account("applications: [{name: a, mandate_type: b}]"), "applications[0].mandate_type: "},
		"an unknown result":       {account("applications: [{mandate_type: kyc, result: b}]"), "applications[0].result: "},
		"an id that is there twice": {
			account("applications: [{id: 1, mandate_type: kyc}, {id: 1, mandate_type: kyc}]"), "applications[1].id: must be",
		},
		"a second account without credentials": {"accounts: [{}, {name: b}]", "accounts[1]: username: set"},
		"two accounts of one name": {
			"accounts: [{}, {name: default, username: x, password: x}]", "accounts[1]: name: another account has the same",
		},
		"two accounts of one user": {
			"accounts: [{}, {name: b, username: sandbox, password: x}]", "accounts[1]: username: another account logs in",
		},
		"a user with the name of a client": {
			"accounts: [{}, {name: b, username: sandbox-client, password: x}]", "accounts[1]: username: another account logs in",
		},
		"a client with the name of a user": {
			"accounts: [{}, {name: b, client_id: sandbox, client_secret: x}]", "accounts[1]: client_id: another account logs in",
		},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := config.Parse([]byte(c.file))
			if err == nil || !strings.Contains(err.Error(), c.want) {
				t.Errorf("error %v, want %q", err, c.want)
			}
		})
	}
}

// A program that starts a sandbox reads no file.
func TestStartTimeOfAProgram(t *testing.T) {
	start := time.Date(9999, 1, 1, 0, 0, 0, 0, time.UTC)
	_, err := config.Config{Accounts: []config.Account{{StartTime: start}}}.Complete()
	if err == nil || !strings.HasPrefix(err.Error(), "accounts[0]: start_time: must be within 100 years") {
		t.Error(err)
	}
}

// An error names the field, and shows neither credentials nor people.
func TestErrorsShowNoSecrets(t *testing.T) {
	const secret = "canary7301"
	for _, file := range []string{
		"accounts: [{password: " + secret + "}]",
		"accounts: [{username: {x: " + secret + "}}]",
		"accounts: [{client_secret: " + secret + ", username: u, password: p}]",
		"accounts: [{applications: [{mandate_type: x, individuals: [{email: " + secret + "}]}]}]",
		"accounts: [{applications: [{mandate_type: kyc, individuals: " + secret + "}]}]",
		"accounts: [{token_lifetime_seconds: " + secret + "}]",
		"accounts: [{start_time: " + secret + "}]",
	} {
		if _, err := config.Parse([]byte(file)); err == nil || strings.Contains(err.Error(), secret) {
			t.Errorf("%s: %v", file, err)
		}
	}
}
