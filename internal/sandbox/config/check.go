package config

import (
	"cmp"
	"fmt"
	"regexp"
	"slices"

	"github.com/mandate-io/idv/internal/sandbox/control"
)

var (
	accountName = regexp.MustCompile(`^[a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?$`)
	checkName   = regexp.MustCompile(`^[a-z][a-z0-9_]{0,49}$`)
)

// Complete fills in the defaults. It returns an error that names the first field that is wrong.
func (c Config) Complete() (Config, error) {
	c.Accounts = slices.Clone(c.Accounts)
	if len(c.Accounts) == 0 {
		c.Accounts = []Account{{}}
	}
	seen := unique{}
	for i := range c.Accounts {
		a := &c.Accounts[i]
		a.fill(i == 0)
		var found checker
		found.account(a, seen)
		if found.err != nil {
			return c, fmt.Errorf("accounts[%d]: %w", i, found.err)
		}
	}
	return c, nil
}

// checker keeps the first error. Its texts name a field, and show no value.
type checker struct{ err error }

func (c *checker) require(ok bool, format string, arguments ...any) {
	if !ok && c.err == nil {
		c.err = fmt.Errorf(format, arguments...)
	}
}

// unique has the values that are used once.
type unique map[string]bool

func (u unique) add(field string, value any) bool {
	key := fmt.Sprint(field, " ", value)
	seen := u[key]
	u[key] = true
	return !seen
}

func (c *checker) account(a *Account, seen unique) {
	c.require(accountName.MatchString(a.Name), "name: must have 1 to 63 lower-case letters, digits and hyphens")
	c.require((a.Username == "") == (a.Password == ""),
		"password: username and password belong together; set both or none")
	c.require((a.ClientID == "") == (a.ClientSecret == ""),
		"client_secret: client_id and client_secret belong together; set both or none")
	c.require(a.Username+a.ClientID != "",
		"username: set username and password, or client_id and client_secret")
	c.require(seen.add("name", a.Name), "name: another account has the same")
	// A token request names its account by either of them.
	c.require(a.Username == "" || seen.add("login", a.Username), "username: another account logs in with the same")
	c.require(a.ClientID == "" || a.ClientID == a.Username || seen.add("login", a.ClientID),
		"client_id: another account logs in with the same")
	const longest = int64(control.MaxClockYears * 365 * 24 * 60 * 60)
	c.require(a.TokenLifetimeSeconds > 0 && a.TokenLifetimeSeconds <= longest,
		"token_lifetime_seconds: must be 1 to %d", longest)
	err := control.CheckTime("start_time:", a.StartTime)
	c.require(a.StartTime.IsZero() || err == nil, "%v", err)
	c.require(a.Autoplay.DelayMillis > 0 && a.Autoplay.DelayMillis <= control.MaxDelayMillis,
		"autoplay.delay_ms: must be 1 to %d", control.MaxDelayMillis)
	for i, fault := range a.Faults {
		err := fault.Check()
		c.require(err == nil, "faults[%d].%v", i, err)
	}
	c.references(a)
}

func (c *checker) references(a *Account) {
	seen := unique{}
	c.require(len(a.MandateTypes) > 0, "mandate_types: must have at least one")
	for i, t := range a.MandateTypes {
		c.require(t.ID > 0 && seen.add("id", t.ID), "mandate_types[%d].id: must be 1 or more, and unique", i)
		c.require(t.Code != "" && seen.add("code", t.Code), "mandate_types[%d].code: must not be empty, and unique", i)
		c.require(t.Name != "", "mandate_types[%d].name: must not be empty", i)
		wrong := slices.ContainsFunc(t.Checks, func(name string) bool { return !checkName.MatchString(name) })
		c.require(len(t.Checks) > 0 && !wrong,
			"mandate_types[%d].checks: must be a list of names of lower-case letters, digits and underscores", i)
	}
	for i, country := range a.Countries {
		c.require(country.Code != "" && country.Name != "", "countries[%d]: needs a code and a name", i)
	}
	for i, d := range a.DocumentTypes {
		c.require(d.ID > 0 && d.Code != "" && d.Name != "",
			"document_types[%d]: needs an id of 1 or more, a code and a name", i)
	}
	for i, app := range a.Applications { // what a create checks is checked when it is created
		c.require(app.ID >= 0 && (app.ID == 0 || seen.add("application", app.ID)),
			"applications[%d].id: must be 1 or more, and unique", i)
		c.require(!seen.add("code", app.MandateType),
			"applications[%d].mandate_type: must be the code of a mandate type", i)
		c.require(slices.Contains(control.Results(), cmp.Or(app.Result, control.ResultPass)),
			"applications[%d].result: must be one of %v", i, control.Results())
	}
}
