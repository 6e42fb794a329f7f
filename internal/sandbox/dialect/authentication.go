package dialect

// The values other than the default of the switches about authentication. The default is "".
const (
	ExpiresInMilliseconds = "milliseconds"
	ExpiresInString       = "string"
	ExpiresInFloat        = "float"
	ExpiresInAbsent       = "absent"
	ExpiresInZero         = "zero"
	ExpiresInAbsurd       = "absurd"

	TokenBasicRequired   = "required"
	TokenBasicRefused    = "refused"
	TokenBasicRefused401 = "refused_401"

	CredentialsUser   = "user"
	CredentialsClient = "client"
	CredentialsBoth   = "both"

	TokenTypeLower = "lower"
	TokenTypeUpper = "upper"

	OlderTokensRevoked = "revoked"

	APIPermission401      = "401"
	APIPermission403      = "403"
	APIPermissionLogin400 = "login_400"
	APIPermissionLogin401 = "login_401"
	APIPermissionLogin403 = "login_403"
)

var authentication = []definition{
	{"expiresIn", "the unit and presence of a token's expires_in",
		[]string{"seconds", ExpiresInMilliseconds, ExpiresInString, ExpiresInFloat, ExpiresInAbsent, ExpiresInZero, ExpiresInAbsurd},
		func(d *Dialect) any { return &d.ExpiresIn }},
	{"tokenBasic", "what an Authorization header (HTTP Basic with client id and secret) does to a token request: nothing, it is needed, or it is refused with 400 or 401",
		[]string{"ignored", TokenBasicRequired, TokenBasicRefused, TokenBasicRefused401},
		func(d *Dialect) any { return &d.TokenBasic }},
	{"credentials", "which credentials a token request needs: either pair, user name and password, client id and secret, or both pairs",
		[]string{"either", CredentialsUser, CredentialsClient, CredentialsBoth},
		func(d *Dialect) any { return &d.Credentials }},
	{"tokenType", "how token_type is spelled: Bearer, bearer or BEARER",
		[]string{"capitalised", TokenTypeLower, TokenTypeUpper},
		func(d *Dialect) any { return &d.TokenType }},
	{"tokenLifetime", "how many seconds a new token is good for; 0 is what the sandbox was started with", nil,
		func(d *Dialect) any { return &d.TokenLifetime }},
	{"olderTokens", "whether a new token makes the ones before it invalid",
		[]string{"kept", OlderTokensRevoked},
		func(d *Dialect) any { return &d.OlderTokens }},
	{"apiPermission", "whether the user may use the API: yes, or every call after the login is refused with 403 or 401, or the login itself is",
		[]string{"granted", APIPermission403, APIPermission401, APIPermissionLogin400, APIPermissionLogin401, APIPermissionLogin403},
		func(d *Dialect) any { return &d.APIPermission }},
}
