package operator_test

import (
	"bytes"
	"errors"
	"flag"
	"io"
	"os/exec"
	"strings"
	"testing"

	"github.com/mandate-io/idv/internal/test/testenv"
	"github.com/mandate-io/idv/operator"
)

// The operator rejects flags that are harmful or have no effect, and names the flag.
func TestFlags(t *testing.T) {
	t.Parallel()
	cases := map[string]struct {
		flags  string
		wrong  string // the flag in the error, "" for none
		reason string
		// warnings is the number of settings that are valid, but not meant for production.
		warnings int
	}{
		"defaults": {},
		"those of tests": {
			flags:    "--settle-delay=2s --rule-delay=2s --record-retention=10s --deletion-give-up-after=4s",
			warnings: 3,
		},
		"some namespaces": {flags: "--watch-namespaces=team-a,team-b"},
		"no settle delay": {
			flags:  "--settle-delay=0",
			wrong:  "--settle-delay",
			reason: "every attempt would be too late",
		},
		"no delay of rules":      {flags: "--rule-delay=0", wrong: "--rule-delay", reason: "checks may follow"},
		"a settle delay below 0": {flags: "--settle-delay=-90s", wrong: "--settle-delay"},
		"a wrong unit":           {flags: "--settle-delay=90ms", wrong: "--settle-delay"},
		"no retention": {
			flags:  "--record-retention=0",
			wrong:  "--record-retention",
			reason: "the ledger would be deleted with its Mandates",
		},
		"no timeout":      {flags: "--deletion-give-up-after=0", wrong: "--deletion-give-up-after"},
		"no workers":      {flags: "--max-concurrent-reconciles=0", wrong: "--max-concurrent-reconciles"},
		"workers below 0": {flags: "--max-concurrent-reconciles=-1", wrong: "--max-concurrent-reconciles"},
		"a ceiling":       {flags: "--max-requests-per-second=50 --min-poll-interval=1m"},
		"a rate below 0":  {flags: "--max-requests-per-second=-1", wrong: "--max-requests-per-second"},
		"no interval":     {flags: "--min-poll-interval=0", wrong: "--min-poll-interval"},
		"only a comma": {
			flags:  "--watch-namespaces=,",
			wrong:  "--watch-namespaces",
			reason: "it would mean all namespaces",
		},
		"not a namespace":           {flags: "--watch-namespaces=team-a,Team_B", wrong: "--watch-namespaces"},
		"all hosts":                 {flags: "--allowed-hosts=*"},
		"some hosts":                {flags: "--allowed-hosts=*.example.com:*,[2001:db8::1] --allow-loopback-http=false"},
		"no hosts":                  {flags: "--allowed-hosts=", wrong: "--allowed-hosts", reason: "it could mean none"},
		"a URL":                     {flags: "--allowed-hosts=https://idv.example.com", wrong: "--allowed-hosts"},
		"hosts of every owner":      {flags: "--allowed-hosts=idv.*", wrong: "--allowed-hosts"},
		"profiles on loopback":      {flags: "--pprof-bind-address=[::1]:6060"},
		"profiles for everybody":    {flags: "--pprof-bind-address=:6060", wrong: "--pprof-bind-address"},
		"profiles for the network":  {flags: "--pprof-bind-address=10.0.0.1:6060", wrong: "--pprof-bind-address"},
		"no profiles":               {flags: "--pprof-bind-address="},
		"metrics for everybody":     {flags: "--metrics-bind-address=:8080 --metrics-secure=false", warnings: 1},
		"metrics on loopback":       {flags: "--metrics-bind-address=127.0.0.1:8080 --metrics-secure=false"},
		"no metrics":                {flags: "--metrics-secure=false"},
		"a certificate that is not": {flags: "--metrics-cert-path=/nowhere", wrong: "--metrics-cert-path"},
		"a Lease without a name":    {flags: "--leader-elect --leader-election-id=", wrong: "--leader-election-id"},
		"a name that is not used":   {flags: "--leader-election-id="},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			options := operator.NewOptions("test")
			flags := flag.NewFlagSet("mandate-operator", flag.ContinueOnError)
			flags.SetOutput(io.Discard)
			options.BindFlags(flags)
			if err := flags.Parse(strings.Fields(c.flags)); err != nil {
				t.Fatal(err)
			}
			switch err := options.Validate(); {
			case c.wrong == "" && err != nil:
				t.Errorf("%s: %v", c.flags, err)
			case c.wrong == "" && len(options.Warnings()) != c.warnings:
				t.Errorf("%s: the warnings are %q, want %d", c.flags, options.Warnings(), c.warnings)
			case c.wrong != "" && (err == nil || !strings.HasPrefix(err.Error(), c.wrong)):
				t.Errorf("%s: the error is %v, want one that starts with %s: %s", c.flags, err, c.wrong, c.reason)
			}
		})
	}
}

// The operator reports all wrong flags at once, before it connects to a cluster.
func TestWrongFlagsExit(t *testing.T) {
	t.Parallel()
	testenv.SkipIfShort(t)
	binary, err := env.Build("./cmd/mandate-operator")
	if err != nil {
		t.Fatal(err)
	}
	var stderr bytes.Buffer
	wrong := []string{"--settle-delay=0", "--watch-namespaces=,", "--kubeconfig=/nowhere"}
	command := exec.CommandContext(t.Context(), binary, wrong...)
	command.Stderr = &stderr
	err = command.Run()
	if exit, ok := errors.AsType[*exec.ExitError](err); !ok || exit.ExitCode() != 2 {
		t.Errorf("the operator exited with %v, want exit code 2", err)
	}
	for _, want := range []string{"--settle-delay is 0s", `--watch-namespaces is ","`} {
		if !strings.Contains(stderr.String(), want) {
			t.Errorf("the operator does not report %q:\n%s", want, stderr.String())
		}
	}
}
