package client

import (
	"context"
	"time"
)

// AccessToken is a bearer token for calls that are made elsewhere.
type AccessToken struct {
	Value Secret
	// RenewAt is when this client would take a new one: 80 % of the lifetime that the service gave.
	RenewAt time.Time
}

// AccessToken gives the client's token, after a login if there is none: POST /ext/authentications/token.
// Errors: KindCredentials if the service refuses the login, then at once and without a login until a hold-off is over.
func (c *Client) AccessToken(ctx context.Context) (*AccessToken, error) {
	token, err := c.tokens.get(ctx, nil)
	if err != nil {
		return nil, err
	}
	return &AccessToken{Value: token.value, RenewAt: token.renew}, nil
}
