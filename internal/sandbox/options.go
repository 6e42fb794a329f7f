package sandbox

import (
	"cmp"
	"log/slog"
	"time"

	"github.com/mandate-io/idv/internal/sandbox/control"
	"github.com/mandate-io/idv/internal/sandbox/dialect"
)

// What Options mean where a field is left at its zero value.
const (
	DefaultUsername      = "sandbox"
	DefaultPassword      = "sandbox-password"
	DefaultClientID      = "sandbox-client"
	DefaultClientSecret  = "sandbox-secret"
	DefaultTokenLifetime = time.Hour
	DefaultAutoplayDelay = 500 * time.Millisecond
)

// Options say how a sandbox behaves. The zero value is a usable sandbox.
type Options struct {
	// Username, Password, ClientID and ClientSecret are what a token request must
	// show: either pair whole, and nothing that differs. Empty fields get the
	// defaults above.
	Username, Password     string
	ClientID, ClientSecret string

	// TokenLifetime is how long a token is good for on the sandbox's clock, in
	// whole seconds. Default one hour.
	TokenLifetime time.Duration

	// Seed decides every id. 0 draws a seed, so that two sandboxes do not give
	// the same ids to different applications.
	Seed uint64

	// StartTime sets the clock; it runs on from there. Default: the time of this machine.
	StartTime time.Time

	// Autoplay makes the sandbox play the individuals by itself; see the package
	// documentation. Can be changed at run time.
	Autoplay bool
	// AutoplayDelay is the time between two steps of an individual, in whole milliseconds. Default 500 ms.
	AutoplayDelay time.Duration

	// Dialect is how the sandbox reads what the interface leaves open. Can be
	// changed at run time.
	Dialect dialect.Dialect

	// RemoteDeliveries lets webhook deliveries leave this machine. Without it a
	// subscription to any other host is kept and its deliveries are Blocked.
	RemoteDeliveries bool

	// Logger gets one record per request: operation, method, route, status and
	// duration, never personal data. Default: none.
	Logger *slog.Logger
}

func (o Options) withDefaults() Options {
	o.Username = cmp.Or(o.Username, DefaultUsername)
	o.Password = cmp.Or(o.Password, DefaultPassword)
	o.ClientID = cmp.Or(o.ClientID, DefaultClientID)
	o.ClientSecret = cmp.Or(o.ClientSecret, DefaultClientSecret)
	o.TokenLifetime = cmp.Or(o.TokenLifetime, DefaultTokenLifetime)
	o.AutoplayDelay = cmp.Or(o.AutoplayDelay, DefaultAutoplayDelay)
	if o.Logger == nil {
		o.Logger = slog.New(slog.DiscardHandler)
	}
	return o
}

func (o Options) autoplay() control.Autoplay {
	return control.Autoplay{Enabled: o.Autoplay, DelayMillis: max(1, o.AutoplayDelay.Milliseconds())}
}
