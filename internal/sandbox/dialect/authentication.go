package dialect

// The values other than the default of the switches about authentication. The default is "".
const (
	ExpiresInMilliseconds      = "milliseconds"
	ExpiresInString            = "string"
	ExpiresInFloat             = "float"
	ExpiresInAbsent            = "absent"
	ExpiresInZero              = "zero"
	ExpiresInAbsurd            = "absurd"
	TokenBasicRequired         = "required"
	TokenBasicRefused          = "refused"
	TokenBasicRefused401       = "refused_401"
	TokenBasicUser             = "user_required"
	CredentialsUser            = "user"
	CredentialsClient          = "client"
	CredentialsBoth            = "both"
	TokenTypeLower             = "lower"
	TokenTypeUpper             = "upper"
	OlderTokensRevoked         = "revoked"
	GrantTypeClientCredentials = "client_credentials"
	GrantTypeEither            = "either"
	GrantTypeAny               = "any"
	TokenFormBearer            = "bearer_prefix"
	LoginRefusal400            = "400"
	LoginRefusal403            = "403"
	LoginRefusal400OAuth       = "400_oauth"
	LoginRefusal200Error       = "200_error"
	TokenRefusal403            = "403"
	TokenRefusalRedirect       = "redirect"
	TokenRefusalHTML           = "html_200"
	APIPermission401           = "401"
	APIPermission403           = "403"
	APIPermissionLogin400      = "login_400"
	APIPermissionLogin401      = "login_401"
	APIPermissionLogin403      = "login_403"
)

var authentication = []definition{
	{"expiresIn", "the unit of expires_in in a token, and whether it is present",
		[]string{
			"seconds", ExpiresInMilliseconds, ExpiresInString, ExpiresInFloat,
			ExpiresInAbsent, ExpiresInZero, ExpiresInAbsurd,
		}},
	{"tokenBasic", "whether a token request may, must or must not (400 or 401) have an Authorization header " +
		"(HTTP Basic with client id and secret), or must have one with user name and password",
		[]string{"ignored", TokenBasicRequired, TokenBasicRefused, TokenBasicRefused401, TokenBasicUser}},
	{"credentials", "which credentials a token request needs: either pair, user name and password, " +
		"client id and secret, or both pairs",
		[]string{"either", CredentialsUser, CredentialsClient, CredentialsBoth}},
	{"tokenType", "the letter case of token_type: Bearer, bearer or BEARER",
		[]string{"capitalised", TokenTypeLower, TokenTypeUpper}},
	{"tokenLifetime", "the lifetime of a new token in seconds; 0 is the lifetime given at the start", nil},
	{"olderTokens", "whether a new token revokes older ones",
		[]string{"kept", OlderTokensRevoked}},
	{"apiPermission", "whether the user may use the API; if not, requests get 403 or 401, " +
		"or the login gets 400, 401 or 403",
		[]string{
			"granted", APIPermission403, APIPermission401,
			APIPermissionLogin400, APIPermissionLogin401, APIPermissionLogin403,
		}},
	{"grantType", "the grant_type of a token request: password, client_credentials, either of them, or anything",
		[]string{"password", GrantTypeClientCredentials, GrantTypeEither, GrantTypeAny}},
	{"tokenForm", `whether an access_token begins with "Bearer "`,
		[]string{"plain", TokenFormBearer}},
	{"tokensPerHour", "how many tokens the service issues in an hour before a login gets 429; 0 is no limit", nil},
	{"loginRefusal", "the response to wrong credentials: a problem with 401, 400 or 403, " +
		"the error of OAuth 2.0 with 400, or the same with 200",
		[]string{"401", LoginRefusal400, LoginRefusal403, LoginRefusal400OAuth, LoginRefusal200Error}},
	{"tokenRefusal", "the response to a request without a valid token: 401, 403, a redirect to a login page, " +
		"or a login page with 200",
		[]string{"401", TokenRefusal403, TokenRefusalRedirect, TokenRefusalHTML}},
}
