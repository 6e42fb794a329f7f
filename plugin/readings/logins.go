package readings

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strings"

	"github.com/mandate-io/idv/api/v1alpha1"
	"github.com/mandate-io/idv/internal/client"
)

// A login is one form of the token request.
type login struct {
	grant         client.GrantType
	authorization client.TokenAuthorization // not Auto
	user, client  bool                      // the pairs of credentials that it sends
}

const (
	grantPassword = client.GrantPassword
	grantClient   = client.GrantClientCredentials
	none          = client.TokenAuthorizationNone
	basic         = client.TokenAuthorizationBasic
	userBasic     = client.TokenAuthorizationUserBasic
)

// auto is what the client sends without a setting, by whether it has the client pair.
var auto = map[bool]client.TokenAuthorization{true: basic, false: none}

// candidates are the forms that the credentials allow: the one of the settings, and the others by their likelihood.
func (c *check) candidates() []login {
	user, id := c.options.Credentials.Username != "", c.options.Credentials.ClientID != ""
	settings := &c.options.Settings
	configured := login{
		cmp.Or(client.GrantType(settings.TokenRequest.GrantType), grantPassword),
		client.TokenAuthorization(settings.TokenAuthorization), user, id,
	}
	if configured.authorization == "" || configured.authorization == client.TokenAuthorizationAuto {
		configured.authorization = auto[id]
	}
	forms := []login{
		{grantPassword, basic, user, id}, {grantPassword, none, user, id}, {grantClient, basic, false, id},
		{grantPassword, userBasic, user, id}, {grantClient, none, false, id},
	}
	if !user { // OAuth 2.0 has a grant of its own for this pair
		forms[1], forms[2] = forms[2], forms[1]
	}
	possible := []login{configured}
	for _, l := range forms {
		fits := (l.client || l.authorization != basic && l.grant != grantClient) && (l.user || l.authorization != userBasic)
		if fits && !slices.Contains(possible, l) {
			possible = append(possible, l)
		}
	}
	return possible
}

// maxRefusals is after how many refused logins there are no more, so that no account is locked.
const maxRefusals = 2

// An attempt is a login that was sent. It succeeded if err is nil.
type attempt struct {
	login
	answer

	from *client.Client
}

// try sends a login. The error is one that says nothing about the form, or that no more may be sent.
func (c *check) try(ctx context.Context, l login) (*attempt, error) {
	if c.refusals == maxRefusals {
		return nil, errEnough
	}
	from, err := c.connect(l)
	if err != nil {
		return nil, err
	}
	_, a := send(ctx, c, func() (*client.AccessToken, error) { return from.AccessToken(ctx) })
	refusals := []int{http.StatusBadRequest, http.StatusUnauthorized, http.StatusForbidden, http.StatusUnprocessableEntity}
	switch {
	case a.err == nil:
		c.newest = from
	case client.KindOf(a.err) == client.KindCredentials, slices.Contains(refusals, a.Status):
		c.refusals++
		reading := fmt.Sprint(a.Status)
		if a.json.Object().Text("error") != "" {
			reading = map[string]string{"200": "200_error", "400": "400_oauth"}[reading]
		}
		usual := l.authorization == none && l.grant == grantPassword // else the refusal may be about these
		if usual && c.isFound("loginRefusal", "") {
			c.saw("loginRefusal", reading)
		}
	default:
		return nil, a.err
	}
	return &attempt{l, a, from}, nil
}

var errEnough = errors.New("not tried, because two logins were refused already")

// logins finds out which token requests the service takes: at most five, of which at most two are refused.
func (c *check) logins(ctx context.Context) error {
	open := c.candidates()
	var refused []*attempt
	for len(open) > 0 && c.refusals < maxRefusals {
		a, err := c.try(ctx, open[0])
		switch {
		case err != nil:
			return c.noLogin(err)
		case a.err == nil:
			c.use(a)
			c.authorization(ctx, a, refused)
			c.pairs(ctx, a)
			o := a.json.Object()
			if inner := a.json.Wrapped("token"); o.Get("access_token").IsNull() && len(inner) == 1 {
				o = inner[0].Object()
			}
			c.see("tokenForm", o.Get("access_token").Raw())
			c.see("tokenType", o.Get("token_type").Raw())
			c.see("expiresIn", o.Get("expires_in").Raw()) // the client needs no setting: a 401 renews the token at any time
			return nil
		}
		refused, open = append(refused, a), open[1:]
		o := a.json.Object()
		if !o.Get("exception").Object().Get("grant_type").IsNull() || o.Text("error") == "unsupported_grant_type" {
			slices.SortStableFunc(open, func(x, y login) int { // others first
				return strings.Compare(sameGrant(x, a), sameGrant(y, a))
			})
		}
	}
	return c.refused(refused[len(refused)-1], open)
}

func sameGrant(l login, other *attempt) string { return fmt.Sprint(l.grant == other.grant) }

// use has the suggestion log in as the login that succeeded.
func (c *check) use(a *attempt) {
	c.client = a.from
	settings, configured := &c.result.Suggestion.Settings, c.candidates()[0]
	if a.authorization != configured.authorization {
		settings.TokenAuthorization = v1alpha1.TokenAuthorization(a.authorization)
		if a.authorization == auto[a.client] {
			settings.TokenAuthorization = v1alpha1.TokenAuthorizationAuto
		}
	}
	if a.grant != configured.grant {
		settings.TokenRequest.GrantType = v1alpha1.GrantType(a.grant)
	}
	pairs := map[[2]bool]string{{true, true}: "both", {true, false}: "user", {false, true}: "client"}
	c.result.Suggestion.Credentials = pairs[[2]bool{a.user, a.client}]
	c.saw("grantType", string(a.grant))
}

// refused is the error of logins that were all refused.
func (c *check) refused(last *attempt, open []login) error {
	var untried []string
	for _, l := range open {
		untried = append(untried, fmt.Sprintf("--grant-type %s --token-authorization %s", l.grant, l.authorization))
	}
	text := fmt.Sprintf("the service refuses the login with %d: the credentials are wrong, the user lacks the API "+
		"permission, or the service needs another form of login", last.Status)
	if kind(last.Exchange) == "html" {
		text += ". The answer is HTML: somebody before the service may admit other addresses only"
	}
	if len(untried) > 0 {
		text += ". After two refusals no more are sent, so that no account is locked. Repeat with the other pair of " +
			"credentials, or with what was not tried: " + strings.Join(untried, ", or ")
	}
	return errors.New(text)
}

// noLogin is the error of a login that was neither answered with a token nor refused.
func (c *check) noLogin(err error) error {
	for _, e := range c.since(0) {
		if e.Status/100 == 3 && strings.HasSuffix(e.Header.Get("Location"), "/authentications/token/") {
			c.saw("trailingSlash", fmt.Sprint("redirect_", e.Status))
			return errors.New("the service redirects every path to the one with a slash at its end; no setting changes that")
		}
		if e.Status == http.StatusNotFound {
			return errors.New("the login path was not found (404): the base URL is not that of the service")
		}
	}
	return fmt.Errorf("the login does not work: %w", err)
}

// authorization compares a login with the header Authorization and one without.
func (c *check) authorization(ctx context.Context, works *attempt, refused []*attempt) {
	with := slices.IndexFunc(refused, func(a *attempt) bool { return a.grant == works.grant && a.authorization == basic })
	switch {
	case works.authorization == userBasic:
		c.saw("tokenBasic", "user_required")
	case works.authorization == none && with >= 0 && refused[with].Status == http.StatusUnauthorized:
		c.saw("tokenBasic", "refused_401")
	case works.authorization == none && with >= 0:
		c.saw("tokenBasic", "refused")
	case works.authorization == none:
		c.unknown("tokenBasic", "with client_id and client_secret, two logins would show it")
	default:
		without := works.login
		without.authorization = none
		switch other, err := c.try(ctx, without); {
		case err != nil:
			c.unknown("tokenBasic", "the login works with HTTP Basic; one without: %s", err)
		case other.err == nil:
			c.saw("tokenBasic", "ignored")
		default:
			c.saw("tokenBasic", "required")
			c.result.Suggestion.Settings.TokenAuthorization = v1alpha1.TokenAuthorizationBasic
		}
	}
}

// pairs finds out which of two pairs the service needs.
func (c *check) pairs(ctx context.Context, works *attempt) {
	if !works.user || !works.client {
		c.unknown("credentials", "the service takes the one pair that was sent")
		return
	}
	forms := []login{{grantPassword, works.authorization, true, false}, {grantPassword, works.authorization, false, true}}
	if works.authorization == basic && !c.isFound("tokenBasic", "required") {
		forms[0].authorization = none
	}
	said := [2]string{"not tried", "not tried"}
	for i, l := range forms {
		if l.authorization == basic && !l.client || l.authorization == userBasic && !l.user {
			continue // the header has the other pair
		}
		if a, err := c.try(ctx, l); err == nil {
			said[i] = map[bool]string{true: "enough", false: "not enough"}[a.err == nil]
		}
	}
	reading := map[[2]string]string{
		{"enough", "enough"}: "either", {"enough", "not enough"}: "user", {"not enough", "enough"}: "client",
		{"not tried", "enough"}: "client", {"enough", "not tried"}: "user", {"not enough", "not enough"}: "both",
	}[said]
	if reading == "" {
		c.unknown("credentials", "username and password alone: %s; client_id and client_secret alone: %s", said[0], said[1])
		return
	}
	c.saw("credentials", reading)
	c.result.Suggestion.Credentials = reading
}
