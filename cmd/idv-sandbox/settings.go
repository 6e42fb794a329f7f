package main

import (
	"fmt"
	"io"
	"net"
	"strings"
	"time"

	"github.com/spf13/pflag"

	"github.com/mandate-io/idv/internal/sandbox"
	"github.com/mandate-io/idv/internal/sandbox/control"
	"github.com/mandate-io/idv/internal/sandbox/dialect"
)

type settings struct {
	showVersion bool
	listen      string
	tls         tlsFiles
	portFile    string
	options     sandbox.Options
}

const intro = `idv-sandbox serves a stand-in of the identity verification service on this
machine. It keeps all data in memory and sends no e-mail.

  /             a web page with the mailbox and buttons to play the individuals
  /api/v1       the service's interface
  ` + control.Prefix + `/  the control API, which controls the individuals, the clock and faults;
                GET it to list the routes

Examples:
  idv-sandbox                               open http://127.0.0.1:8480 in a browser
  idv-sandbox --autoplay                    the sandbox plays the individuals
  idv-sandbox --dialect completeMethod=POST --dialect readLag=2
  curl http://127.0.0.1:8480` + control.Prefix + `/outbox
  idv-sandbox --listen=:8443 --allow-remote --tls-cert-file=tls.crt --tls-key-file=tls.key
                                            for a Pod: the operator's manifests want https

Flags:
`

const afterFlags = `
With --autoplay, every individual takes one step each --autoplay-delay. The tag of
the e-mail address selects the result of the checks: NAME+fail@HOST fails them,
NAME+review@HOST leaves them in review, NAME+idle@HOST does nothing. All others pass.

A dialect switch selects the reading of a point that the service's documentation
leaves open. Set it with --dialect name=value, on the page or with the control API.
The first value is the default.
`

// helpWidth fits the usual terminal.
const helpWidth = 100

func parseSettings(args []string, stdout io.Writer) (settings, error) {
	var s settings
	var allowRemote bool
	var dialects []string
	o := &s.options
	flags := pflag.NewFlagSet("idv-sandbox", pflag.ContinueOnError)
	flags.SortFlags = false
	flags.StringVar(&s.listen, "listen", "127.0.0.1:8480",
		"`address` to listen on; port 0 selects a free port")
	flags.BoolVar(&allowRemote, "allow-remote", false,
		"allow other machines to connect, although the control API has no authentication (default false)")
	flags.StringVar(&s.tls.cert, "tls-cert-file", "",
		"serve TLS with the certificates in this PEM `file`; it is read again when it changes (default none: HTTP)")
	flags.StringVar(&s.tls.key, "tls-key-file", "", "PEM `file` with the key of the certificate (default none)")
	flags.StringVar(&s.portFile, "port-file", "",
		"write the port number to this `file` when listening (default none)")
	flags.StringVar(&o.Username, "username", sandbox.DefaultUsername, "user name that a token request needs")
	flags.StringVar(&o.Password, "password", sandbox.DefaultPassword, "password of the user name")
	flags.StringVar(&o.ClientID, "client-id", sandbox.DefaultClientID,
		"client id that a token request needs if it has no user name")
	flags.StringVar(&o.ClientSecret, "client-secret", sandbox.DefaultClientSecret, "secret of the client id")
	flags.DurationVar(&o.TokenLifetime, "token-lifetime", sandbox.DefaultTokenLifetime,
		"lifetime of a token, in whole seconds")
	flags.BoolVar(&o.Autoplay, "autoplay", false, "play the individuals (default false)")
	flags.DurationVar(&o.AutoplayDelay, "autoplay-delay", sandbox.DefaultAutoplayDelay,
		"time between two steps of an individual")
	flags.StringArrayVar(&dialects, "dialect", nil,
		"set a dialect switch, as `name=value`; repeatable (default none)")
	flags.Uint64Var(&o.Seed, "seed", 0, "seed of the ids; 0 selects a random seed (default 0)")
	flags.BoolVar(&o.RemoteDeliveries, "remote-deliveries", false,
		"deliver webhooks to other machines (default false)")
	flags.BoolVar(&s.showVersion, "version", false, "print the version and exit (default false)")
	flags.Usage = func() {
		fmt.Fprint(stdout, intro, flags.FlagUsagesWrapped(helpWidth), afterFlags, dialectHelp())
	}
	if err := flags.Parse(args); err != nil {
		return s, err
	}
	if flags.NArg() > 0 {
		return s, fmt.Errorf("unexpected argument %q; see --help", flags.Arg(0))
	}
	for _, assignment := range dialects {
		if err := s.options.Dialect.Parse(assignment); err != nil {
			return s, fmt.Errorf("--dialect: %w", err)
		}
	}
	return s, s.check(allowRemote)
}

func dialectHelp() string {
	var help strings.Builder
	group := ""
	for _, s := range (dialect.Dialect{}).Switches() {
		if s.Group != group {
			group = s.Group
			fmt.Fprintf(&help, "\n%s:\n", group)
		}
		fmt.Fprintf(&help, "  %-21s %s\n", s.Name, wrapped(strings.Join(s.Values, " | ")))
		fmt.Fprintf(&help, "  %-21s %s\n", "", wrapped(s.Meaning))
	}
	return help.String()
}

// wrapped wraps a text in the second column of the help.
func wrapped(text string) string {
	const column = 24
	var b strings.Builder
	width := column
	for word := range strings.FieldsSeq(text) {
		switch {
		case b.Len() == 0:
		case width+1+len(word) > helpWidth:
			b.WriteString("\n" + strings.Repeat(" ", column))
			width = column
		default:
			b.WriteByte(' ')
			width++
		}
		b.WriteString(word)
		width += len(word)
	}
	return b.String()
}

func (s settings) check(allowRemote bool) error {
	o := s.options
	for _, required := range []struct{ flag, value string }{
		{"username", o.Username}, {"password", o.Password},
		{"client-id", o.ClientID}, {"client-secret", o.ClientSecret},
	} {
		if strings.TrimSpace(required.value) == "" {
			return fmt.Errorf("--%s must not be empty; omit it for the default", required.flag)
		}
	}
	if o.TokenLifetime < time.Second {
		return fmt.Errorf("--token-lifetime must be at least 1s")
	}
	if o.AutoplayDelay < time.Millisecond {
		return fmt.Errorf("--autoplay-delay must be at least 1ms")
	}
	if err := s.tls.check(); err != nil {
		return err
	}
	address, err := net.ResolveTCPAddr("tcp", s.listen)
	if err != nil {
		return fmt.Errorf("--listen: %w", err)
	}
	if !address.IP.IsLoopback() && !allowRemote {
		return fmt.Errorf("--listen %s accepts connections from other machines, and the control API has no "+
			"authentication; use 127.0.0.1 or add --allow-remote", s.listen)
	}
	return nil
}
