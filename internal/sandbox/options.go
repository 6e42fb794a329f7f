package sandbox

import (
	"cmp"
	"log/slog"
	"time"

	"github.com/mandate-io/idv/internal/sandbox/config"
	"github.com/mandate-io/idv/internal/sandbox/control"
	"github.com/mandate-io/idv/internal/sandbox/dialect"
)

// The credentials of a sandbox without a configuration.
const (
	DefaultUsername     = config.DefaultUsername
	DefaultPassword     = config.DefaultPassword
	DefaultClientID     = config.DefaultClientID
	DefaultClientSecret = config.DefaultClientSecret
)

// Process is what the configuration of a sandbox leaves to the process that it runs in.
type Process struct {
	// RemoteDeliveries allows webhook deliveries to other machines. Without it they are Blocked.
	RemoteDeliveries bool
	// Logger gets one record per request: account, operation, method, route, status and duration, never personal data.
	// Default: no log.
	Logger *slog.Logger
}

// Options configure a sandbox with one account, in a test. The zero value is valid. Empty fields get the defaults of
// config.Account.
type Options struct {
	Username, Password     string
	ClientID, ClientSecret string
	TokenLifetime          time.Duration // in whole seconds
	Seed                   uint64
	StartTime              time.Time
	Autoplay               bool
	AutoplayDelay          time.Duration // in whole milliseconds
	Dialect                dialect.Dialect
	Logger                 *slog.Logger
}

func (o Options) config() config.Config {
	return config.Config{Seed: o.Seed, Accounts: []config.Account{{
		Username: cmp.Or(o.Username, DefaultUsername), Password: cmp.Or(o.Password, DefaultPassword),
		ClientID: cmp.Or(o.ClientID, DefaultClientID), ClientSecret: cmp.Or(o.ClientSecret, DefaultClientSecret),
		TokenLifetimeSeconds: int64(o.TokenLifetime / time.Second), StartTime: o.StartTime, Dialect: o.Dialect,
		Autoplay: control.Autoplay{Enabled: o.Autoplay, DelayMillis: o.AutoplayDelay.Milliseconds()},
	}}}
}
