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
	{"expiresIn", "the unit of expires_in in a token, and whether it is present",
		[]string{
			"seconds", ExpiresInMilliseconds, ExpiresInString, ExpiresInFloat,
			ExpiresInAbsent, ExpiresInZero, ExpiresInAbsurd,
		},
		func(d *Dialect) any { return &d.ExpiresIn }},
	{"tokenBasic", "whether a token request may, must or must not (400 or 401) have an Authorization header " +
		"(HTTP Basic with client id and secret)",
		[]string{"ignored", TokenBasicRequired, TokenBasicRefused, TokenBasicRefused401},
		func(d *Dialect) any { return &d.TokenBasic }},
	{"credentials", "which credentials a token request needs: either pair, user name and password, " +
		"client id and secret, or both pairs",
		[]string{"either", CredentialsUser, CredentialsClient, CredentialsBoth},
		func(d *Dialect) any { return &d.Credentials }},
	{"tokenType", "the letter case of token_type: Bearer, bearer or BEARER",
		[]string{"capitalised", TokenTypeLower, TokenTypeUpper},
		func(d *Dialect) any { return &d.TokenType }},
	{"tokenLifetime", "the lifetime of a new token in seconds; 0 is the lifetime given at the start", nil,
		func(d *Dialect) any { return &d.TokenLifetime }},
	{"olderTokens", "whether a new token revokes older ones",
		[]string{"kept", OlderTokensRevoked},
		func(d *Dialect) any { return &d.OlderTokens }},
	{"apiPermission", "whether the user may use the API; if not, requests get 403 or 401, " +
		"or the login gets 400, 401 or 403",
		[]string{
			"granted", APIPermission403, APIPermission401,
			APIPermissionLogin400, APIPermissionLogin401, APIPermissionLogin403,
		},
		func(d *Dialect) any { return &d.APIPermission }},
}
