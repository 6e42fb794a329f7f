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
	listen   string
	portFile string
	options  sandbox.Options
}

const intro = `idv-sandbox serves a stand-in of the identity verification service on this
machine. It keeps everything in memory and e-mails nobody.

  /             a page for people: the mailbox, and buttons that play the individuals
  /api/v1       the service's interface
  ` + control.Prefix + `/  the control API, which plays the people, the clock and the network;
                GET it for the list of its routes

Examples:
  idv-sandbox                               then open http://127.0.0.1:8480 in a browser
  idv-sandbox --autoplay                    the individuals act by themselves
  idv-sandbox --dialect completeMethod=POST --dialect readLag=2
  curl http://127.0.0.1:8480` + control.Prefix + `/outbox

Flags:
`

const afterFlags = `
With --autoplay every individual takes one step each --autoplay-delay. The tag of
the e-mail address decides how the checks end: NAME+fail@HOST, NAME+review@HOST;
NAME+idle@HOST does nothing; everybody else passes.

Dialects are the readings of what the service's documentation leaves open. Each can
be set here with --dialect name=value, and later on the page and with the control
API. The first value is the default.
`

// helpWidth is what fits a usual terminal.
const helpWidth = 100

func parseSettings(args []string, stdout io.Writer) (settings, error) {
	var s settings
	var allowRemote bool
	var dialects []string
	flags := pflag.NewFlagSet("idv-sandbox", pflag.ContinueOnError)
	flags.SortFlags = false
	flags.StringVar(&s.listen, "listen", "127.0.0.1:8480", "`address` to listen on; port 0 takes a free one")
	flags.BoolVar(&allowRemote, "allow-remote", false, "allow an address that other machines can reach: the control API has no authentication")
	flags.StringVar(&s.portFile, "port-file", "", "`file` to write the port number to once listening")
	flags.StringVar(&s.options.Username, "username", sandbox.DefaultUsername, "user name that a token request must show")
	flags.StringVar(&s.options.Password, "password", sandbox.DefaultPassword, "its password")
	flags.StringVar(&s.options.ClientID, "client-id", sandbox.DefaultClientID, "client id that a token request must show; either pair is enough")
	flags.StringVar(&s.options.ClientSecret, "client-secret", sandbox.DefaultClientSecret, "its secret")
	flags.DurationVar(&s.options.TokenLifetime, "token-lifetime", sandbox.DefaultTokenLifetime, "how long a token is good for, in whole seconds")
	flags.BoolVar(&s.options.Autoplay, "autoplay", false, "play the individuals")
	flags.DurationVar(&s.options.AutoplayDelay, "autoplay-delay", sandbox.DefaultAutoplayDelay, "time between two steps of an individual")
	flags.StringArrayVar(&dialects, "dialect", nil, "another reading of what the documentation leaves open, as `name=value`; repeatable")
	flags.Uint64Var(&s.options.Seed, "seed", 0, "decides all ids; 0 draws one")
	flags.BoolVar(&s.options.RemoteDeliveries, "remote-deliveries", false, "let webhook calls leave this machine")
	flags.Usage = func() { fmt.Fprint(stdout, intro, flags.FlagUsagesWrapped(helpWidth), afterFlags, dialectHelp()) }
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
		fmt.Fprintf(&help, "  %-21s %s\n", s.Name, indented(strings.Join(s.Values, " | ")))
		fmt.Fprintf(&help, "  %-21s %s\n", "", indented(s.Meaning))
	}
	return help.String()
}

// indented breaks a text into lines that stand in the second column of the help.
func indented(text string) string {
	const column = 24
	var lines []string
	line := ""
	for word := range strings.FieldsSeq(text) {
		if line != "" && column+len(line)+1+len(word) > helpWidth {
			lines = append(lines, line)
			line = ""
		}
		line = strings.TrimLeft(line+" "+word, " ")
	}
	return strings.Join(append(lines, line), "\n"+strings.Repeat(" ", column))
}

func (s settings) check(allowRemote bool) error {
	o := s.options
	for _, required := range []struct{ flag, value string }{
		{"username", o.Username}, {"password", o.Password}, {"client-id", o.ClientID}, {"client-secret", o.ClientSecret},
	} {
		if strings.TrimSpace(required.value) == "" {
			return fmt.Errorf("--%s must not be empty; leave it out for the default", required.flag)
		}
	}
	if o.TokenLifetime < time.Second {
		return fmt.Errorf("--token-lifetime must be at least 1s")
	}
	if o.AutoplayDelay < time.Millisecond {
		return fmt.Errorf("--autoplay-delay must be at least 1ms")
	}
	address, err := net.ResolveTCPAddr("tcp", s.listen)
	if err != nil {
		return fmt.Errorf("--listen: %w", err)
	}
	if !address.IP.IsLoopback() && !allowRemote {
		return fmt.Errorf("--listen %s can be reached from other machines, and nothing protects the control API; use 127.0.0.1 or add --allow-remote", s.listen)
	}
	return nil
}
