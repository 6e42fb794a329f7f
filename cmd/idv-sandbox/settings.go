package main

import (
	"fmt"
	"io"
	"net"
	"os"
	"strings"

	"github.com/spf13/pflag"

	"github.com/mandate-io/idv/internal/sandbox"
	"github.com/mandate-io/idv/internal/sandbox/config"
	"github.com/mandate-io/idv/internal/sandbox/control"
	"github.com/mandate-io/idv/internal/sandbox/dialect"
)

type settings struct {
	showVersion bool
	listen      string
	tls         tlsFiles
	portFile    string
	config      config.Config
	process     sandbox.Process
}

const intro = `idv-sandbox serves a stand-in of the identity verification service on this
machine. It keeps all data in memory and sends no e-mail.

  /             a web page with the mailbox and buttons to play the individuals
  /api/v1       the service's interface
  ` + control.Prefix + `/  the control API, which controls the individuals, the clock and faults;
                GET it to list the routes
  /healthz      200 while the sandbox serves requests
  /openapi.json the OpenAPI description of the interface; the control API has its own

Examples:
  idv-sandbox                               open http://127.0.0.1:8480 in a browser
  idv-sandbox --autoplay                    the sandbox plays the individuals
  idv-sandbox --config sandbox.yaml         accounts, mandate types, applications, faults
  idv-sandbox --dialect completeMethod=POST --dialect readLag=2
  curl http://127.0.0.1:8480` + control.Prefix + `/outbox
  idv-sandbox --listen=:8443 --allow-remote --tls-cert-file=tls.crt --tls-key-file=tls.key
                                            for a Pod: the operator's manifests want https

Flags:
`

const afterFlags = `
Without --config, a token request needs the user name ` + config.DefaultUsername + ` and the password
` + config.DefaultPassword + `, or the client id ` + config.DefaultClientID + ` and the secret ` +
	config.DefaultClientSecret + `.
docs/sandbox.md lists the fields of the file.

With --autoplay, every individual takes one step each half second. The tag of
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
	var allowRemote, autoplay bool
	var configFile string
	var dialects []string
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
	flags.StringVar(&configFile, "config", "",
		"read accounts and what they have at the start from this YAML `file` (default none: one account)")
	flags.BoolVar(&autoplay, "autoplay", false, "play the individuals of every account (default false)")
	flags.StringArrayVar(&dialects, "dialect", nil,
		"set a dialect switch of every account, as `name=value`; repeatable (default none)")
	flags.BoolVar(&s.process.RemoteDeliveries, "remote-deliveries", false,
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
	if err := s.configure(configFile, autoplay, dialects); err != nil {
		return s, err
	}
	return s, s.check(allowRemote)
}

// configure reads the configuration. The flags are about every account of it.
func (s *settings) configure(file string, autoplay bool, dialects []string) (err error) {
	var content []byte
	if file != "" {
		if content, err = os.ReadFile(file); err != nil {
			return fmt.Errorf("--config: %w", err)
		}
	}
	if s.config, err = config.Parse(content); err != nil {
		return fmt.Errorf("--config %s: %w", file, err)
	}
	for i := range s.config.Accounts {
		account := &s.config.Accounts[i]
		account.Autoplay.Enabled = account.Autoplay.Enabled || autoplay
		for _, assignment := range dialects {
			if err := account.Dialect.Parse(assignment); err != nil {
				return fmt.Errorf("--dialect: %w", err)
			}
		}
	}
	return nil
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
