package readings

import (
	"context"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strings"

	"github.com/mandate-io/idv/api/v1alpha1"
	"github.com/mandate-io/idv/internal/client"
)

// A loginForm is one form of the token request.
type loginForm struct{ user, clientID, basic bool }

func (c *check) try(ctx context.Context, w loginForm) (answer, error) {
	credentials := c.options.Credentials
	form := url.Values{"grant_type": {"password"}}
	if w.user {
		form.Set("username", credentials.Username)
		form.Set("password", credentials.Password.Reveal())
	}
	if w.clientID {
		form.Set("client_id", credentials.ClientID)
		form.Set("client_secret", credentials.ClientSecret.Reveal())
	}
	var basic client.Secret
	if w.basic {
		basic = credentials.Basic()
	}
	return c.login(ctx, form, basic)
}

// logins finds out which token requests the service takes: two logins, and two more if there are both pairs. After two
// that were refused it stops, so that no account is locked.
func (c *check) logins(ctx context.Context) error {
	user, clientID := c.options.Credentials.Username != "", c.options.Credentials.ClientID != ""
	usual := loginForm{user, clientID, clientID} // what Auto sends
	first, err := c.try(ctx, usual)
	if err != nil {
		return err
	}
	works := usual
	if clientID {
		without, err := c.try(ctx, loginForm{user: user, clientID: clientID})
		if err != nil {
			return err
		}
		c.tokenAuthorization(first, without)
		if !first.ok() {
			first, works = without, loginForm{user: user, clientID: clientID}
		} else if without.ok() {
			c.olderTokens(ctx, first)
			first = without // a new token may revoke the older one
		}
	} else {
		c.unknown("tokenAuthorization", "with a client id and secret, two logins would show it")
	}
	if err := loginError(first); err != nil {
		return err
	}
	if first, err = c.pairs(ctx, works, first); err != nil {
		return err
	}
	return c.describeToken(first)
}

func loginError(a answer) error {
	switch {
	case a.ok():
		return nil
	case a.status == http.StatusForbidden:
		return fmt.Errorf("the service refuses the login with 403: the user may lack the API permission")
	case a.status == http.StatusBadRequest || a.status == http.StatusUnauthorized:
		return fmt.Errorf("the service refuses the login with %d: the credentials are wrong, or the user lacks the API "+
			"permission; the service may also need the other pair of credentials", a.status)
	case a.status == http.StatusNotFound:
		return fmt.Errorf("the login path was not found (404): the base URL is not that of the service")
	}
	return fmt.Errorf("the login failed with HTTP status %d", a.status)
}

// tokenAuthorization compares a login with HTTP Basic and one without.
func (c *check) tokenAuthorization(with, without answer) {
	switch {
	case with.ok() && without.ok():
		c.found("tokenAuthorization", "ignored", "the login works with and without HTTP Basic")
	case with.ok():
		c.result.Suggestion.Settings.TokenAuthorization = v1alpha1.TokenAuthorizationBasic
		c.found("tokenAuthorization", "required", "the login needs HTTP Basic with client id and secret (%d without)",
			without.status)
	case without.ok():
		c.result.Suggestion.Settings.TokenAuthorization = v1alpha1.TokenAuthorizationNone
		c.found("tokenAuthorization", "refused", "the login must have no Authorization header (%d with one)", with.status)
	default:
		c.unknown("tokenAuthorization", "both logins failed (%d, %d)", with.status, without.status)
	}
}

// olderTokens uses the token of an earlier login.
func (c *check) olderTokens(ctx context.Context, earlier answer) {
	value, ok := text(parse(earlier.body).get("access_token"))
	if !ok {
		return
	}
	response, err := c.get(ctx, "/ext/references", client.Hide(value))
	switch {
	case err != nil:
	case response.status == http.StatusUnauthorized:
		c.found("olderTokens", "revoked", "a new token revokes the older ones: everybody who logs in with these "+
			"credentials costs the others a login")
	case response.ok():
		c.found("olderTokens", "kept", "older tokens stay valid after a login")
	}
}

// pairs finds out which of two pairs the service needs. It returns the answer with the newest token.
func (c *check) pairs(ctx context.Context, works loginForm, newest answer) (answer, error) {
	if !works.user || !works.clientID {
		c.unknown("credentials", "the service takes the one pair that was given")
		return newest, nil
	}
	userOnly, err := c.try(ctx, loginForm{user: true, basic: works.basic && c.needsBasic()})
	if err != nil {
		return newest, err
	}
	clientOnly, err := c.try(ctx, loginForm{clientID: true, basic: works.basic})
	if err != nil {
		return newest, err
	}
	switch {
	case userOnly.ok() && clientOnly.ok():
		c.found("credentials", "either", "either pair is enough: username and password, or client_id and client_secret")
	case userOnly.ok():
		c.found("credentials", "user", "the login needs username and password")
	case clientOnly.ok():
		c.found("credentials", "client", "the login needs client_id and client_secret")
	default:
		c.found("credentials", "both", "the login needs all four: username, password, client_id and client_secret")
	}
	c.result.Suggestion.Credentials = c.result.Find("credentials").Reading
	for _, later := range []answer{userOnly, clientOnly} {
		if later.ok() {
			newest = later
		}
	}
	return newest, nil
}

func (c *check) needsBasic() bool { return c.result.Find("tokenAuthorization").Reading == "required" }

// describeToken keeps the token, and says what the response looks like.
func (c *check) describeToken(a answer) error {
	o := parse(a.body)
	if inner := o.get("token").object(); inner != nil && o.get("access_token").isAbsent() {
		o = value{inner}
	}
	token, ok := text(o.get("access_token"))
	if !ok || token == "" {
		return fmt.Errorf("the login answered without an access_token; check the base URL")
	}
	c.token = client.Hide(token)
	kind, _ := text(o.get("token_type"))
	switch {
	case kind == "":
		c.found("tokenType", "absent", "token_type is absent")
	case kind == strings.ToLower(kind):
		c.found("tokenType", "lower", "token_type is in lower case")
	case kind == strings.ToUpper(kind):
		c.found("tokenType", "upper", "token_type is in upper case")
	default:
		c.found("tokenType", "capitalised", "token_type is capitalised")
	}
	c.expiresIn(o.get("expires_in"))
	documented := []string{"access_token", "expires_in", "token_type", "refresh_token", "scope", "refresh_expires_in"}
	extra := 0
	for name := range o.object() {
		if !slices.Contains(documented, name) {
			extra++
		}
	}
	if extra > 0 {
		c.found("extraMembers", "present", "responses have undocumented members (%d in a token)", extra)
	} else {
		c.found("extraMembers", "none", "the token has no undocumented members")
	}
	return nil
}

// expiresIn says what the lifetime looks like. The client needs no setting: a 401 renews the token at any time.
func (c *check) expiresIn(v value) {
	const day = 24 * 60 * 60
	number, isNumber := v.number()
	_, isText := text(v)
	switch {
	case v.isAbsent():
		c.found("expiresIn", "absent", "expires_in is absent; an hour is assumed")
	case isText:
		c.found("expiresIn", "string", "expires_in is a string")
	case !isNumber:
		c.unknown("expiresIn", "expires_in is neither a number nor a string; an hour is assumed")
	case number == 0:
		c.found("expiresIn", "zero", "expires_in is 0; an hour is assumed")
	case number > 1000*30*day:
		c.found("expiresIn", "absurd", "expires_in is absurd; a day is assumed")
	case number > 30*day, number > day && int64(number)%1000 == 0:
		c.found("expiresIn", "milliseconds", "expires_in is %.0f: milliseconds, it seems; a day is assumed", number)
	case v.isFloat():
		c.found("expiresIn", "float", "expires_in is a number with a fraction, in seconds, it seems")
	default:
		c.found("expiresIn", "seconds", "expires_in is %.0f: seconds, it seems", number)
	}
}
