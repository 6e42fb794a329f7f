package sandbox

import (
	"cmp"
	"log/slog"
	"time"

	"github.com/mandate-io/idv/internal/sandbox/control"
	"github.com/mandate-io/idv/internal/sandbox/dialect"
)

// The defaults of Options.
const (
	DefaultUsername      = "sandbox"
	DefaultPassword      = "sandbox-password"
	DefaultClientID      = "sandbox-client"
	DefaultClientSecret  = "sandbox-secret"
	DefaultTokenLifetime = time.Hour
	DefaultAutoplayDelay = 500 * time.Millisecond
)

// Options configure a sandbox. The zero value is valid.
type Options struct {
	// Username, Password, ClientID and ClientSecret are the credentials of a token
	// request. It needs one complete pair and no wrong field. Empty fields get the
	// defaults above.
	Username, Password     string
	ClientID, ClientSecret string

	// TokenLifetime is the lifetime of a token on the sandbox's clock, in whole
	// seconds. Default: one hour.
	TokenLifetime time.Duration

	// Seed determines every id. 0 selects a random seed, so that two sandboxes do
	// not give the same ids to different applications.
	Seed uint64

	// StartTime sets the clock; it runs on from there. Default: the time of this machine.
	StartTime time.Time

	// Autoplay makes the sandbox play the individuals; see the package
	// documentation. It can be changed at run time.
	Autoplay bool
	// AutoplayDelay is the time between two steps of an individual, in whole
	// milliseconds. Default: 500 ms.
	AutoplayDelay time.Duration

	// Dialect selects the reading of what the interface leaves open. It can be
	// changed at run time.
	Dialect dialect.Dialect

	// RemoteDeliveries allows webhook deliveries to other machines. Without it
	// they are Blocked.
	RemoteDeliveries bool

	// Logger gets one record per request: operation, method, route, status and
	// duration, never personal data. Default: no log.
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
