package plugin

import (
	"cmp"
	"context"
	"encoding/pem"
	"fmt"
	"maps"
	"os"
	"slices"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"github.com/mandate-io/idv/plugin/readings"
)

// connectionFlags are those of check-connection.
type connectionFlags struct {
	service serviceFlags
	baseURL string
	secret  string
	file    string
	caFile  string
	// applications are ID or ID=meaning.
	applications []string
	report       bool
}

const connectionHelp = "Find out how a service handles what its interface leaves open, and print the manifest of the " +
	"service object and the provider block with the right settings. The command sends at most six logins, a few GETs " +
	"and two OPTIONS. It creates and changes nothing, and e-mails nobody.\n\n" +
	"The credentials come from the environment (IDV_USERNAME, IDV_PASSWORD, IDV_CLIENT_ID, IDV_CLIENT_SECRET), from a " +
	"Secret of the cluster, or from a file. They are never arguments, because other users of this machine can see " +
	"arguments. If you have both pairs, give both: the command then finds out which of them the service needs."

func (s *session) checkConnectionCommand() *cobra.Command {
	flags, output := connectionFlags{}, outputFlag{}
	command := &cobra.Command{
		Use:   "check-connection",
		Short: "Find out which settings a service needs, with reads only",
		Long:  connectionHelp,
		Example: `  IDV_USERNAME=api-user IDV_PASSWORD=... kubectl mandate check-connection --base-url https://idv.example.com
  kubectl mandate check-connection -n onboarding --identityservice default
  kubectl mandate check-connection -n onboarding --identityservice default --application 4711=completed`,
		Args: exactArgs(0),
		RunE: func(command *cobra.Command, _ []string) error {
			options, target, err := s.connection(command.Context(), &flags)
			if err != nil {
				return err
			}
			result, err := readings.Check(command.Context(), *options)
			if err != nil {
				return usageError("%w", err)
			}
			shown, err := newConnectionView(result, target)
			if err == nil {
				err = s.showReadings(shown, &output)
			}
			if err != nil {
				return err
			}
			if result.Problem != "" {
				return &exitError{exitNotReached, fmt.Errorf("the connection does not work yet: %s", result.Problem)}
			}
			return nil
		},
	}
	flags.addTo(command)
	output.addTo(command, "json", "yaml")
	return command
}

func (f *connectionFlags) addTo(command *cobra.Command) {
	f.service.addTo(command)
	set := command.Flags()
	set.StringVar(&f.baseURL, "base-url", "",
		"The URL of the service without /api/v1. Default: that of the service object, or IDV_BASE_URL.")
	set.StringVar(&f.secret, "secret", "", "Take the credentials from this Secret. Default: that of the service object.")
	set.StringVar(&f.file, "credentials-file", "",
		"Take the credentials from this file, - for the standard input: lines such as username=..., or YAML. Default: none.")
	set.StringVar(&f.caFile, "ca-file", "",
		"Trust the authorities in this PEM file. Default: those of the service object, IDV_CA_FILE or the system.")
	set.StringArrayVar(&f.applications, "application", nil,
		"Also read the application with this ID. Use ID=inReview|completed|rejected if you know its state. Repeatable.")
	set.BoolVar(&f.report, "report", false,
		"Also read the report on the first individual, which is personal data. Nothing of it is kept. Default: false.")
}

// parseApplications reads --application.
func parseApplications(flags []string) ([]readings.Application, error) {
	var applications []readings.Application
	for _, flag := range flags {
		number, meaning, _ := strings.Cut(flag, "=")
		id, err := strconv.ParseInt(number, 10, 64)
		known := []readings.Meaning{"", readings.InReview, readings.Completed, readings.Rejected}
		if err != nil || id < 1 || !slices.Contains(known, readings.Meaning(meaning)) {
			return nil, usageError("--application %q: use ID, ID=inReview, ID=completed or ID=rejected", flag)
		}
		applications = append(applications, readings.Application{ID: id, Meaning: readings.Meaning(meaning)})
	}
	return applications, nil
}

// connectionView is what check-connection prints.
type connectionView struct {
	*readings.Result

	// Kind is that of Manifest. Manifest and Provider, a configuration, make use of the findings.
	Kind     string `json:"kind,omitempty"`
	Manifest string `json:"manifest,omitempty"`
	Provider string `json:"provider,omitempty"`
}

func newConnectionView(result *readings.Result, target service) (*connectionView, error) {
	v := &connectionView{Result: result}
	if result.Problem != "" {
		return v, nil
	}
	v.Kind, v.Provider = kindOf(target), result.Suggestion.HCL()
	*target.Settings() = result.Suggestion.Settings
	text, err := manifest(target)
	v.Manifest = fmt.Sprintf("# The Secret %s needs the keys %s.\n%s",
		target.CredentialsSecret().Name, result.Suggestion.Keys(), text)
	return v, err
}

func (s *session) showReadings(v *connectionView, output *outputFlag) error {
	if output.structured() {
		return output.print(s.Out, v)
	}
	p := newPrinter(s.Out)
	p.line(p.styled(bold, "What the reads showed"))
	for _, f := range v.Findings {
		if f.Reading != "" {
			p.finding(f.Point, f.Text)
		}
	}
	p.line()
	p.line(p.styled(bold, "What they did not show"))
	for _, f := range v.Findings {
		if f.Reading == "" {
			p.finding(f.Point, f.Text)
		}
	}
	for _, later := range laterFindings {
		p.finding(later.point, later.shown)
	}
	p.line()
	p.wrap("", "", "Sent: "+sentText(v.Sent)+". Nothing was created or changed, and nobody was e-mailed.")
	if v.Problem == "" {
		p.line()
		p.line(p.styled(bold, v.Kind+" with these settings"))
		p.WriteString(v.Manifest)
		p.line()
		p.line(p.styled(bold, "Provider block with these settings"))
		p.WriteString(v.Provider)
		p.line()
		p.line("Next: create one Mandate, to yourself. docs/first-contact.md has the steps.")
	}
	_, err := fmt.Fprint(s.Out, p.String())
	return err
}

func (p *printer) finding(name, text string) {
	p.wrap(fmt.Sprintf("  %-19s ", name), strings.Repeat(" ", 22), text)
}

// laterFindings are the points that reads cannot show, each with what shows it.
var laterFindings = []struct{ point, shown string }{
	{"create", "the first Mandate shows whether a create answers with an id (Ready), or in a way that loses it " +
		"(OutcomeUnknown), and whether a read finds the application at once"},
	{"firstState", "status.state of the first Mandate is the state after a create"},
	{"requiredFields", "a first Mandate that ends as Refused names the missing fields in the operator's log"},
	{"suppress", "which e-mails suppressEmailNotification suppresses: look at your own mailbox"},
	{"decision", "a decision on the first Mandate shows method, payload and answer of complete or reject, and whether " +
		"checks that are not decided block it"},
	{"actions", "a resend and a reset of yourself show their payload, and whether checks keep their ids"},
	{"duplicates", "the operator never relies on how a duplicate reference is refused, or when a reference is free again"},
	{"subscribe", "terraform apply of one subscription shows its field names, and whether events are required"},
	{"deliveries", "run the operator with --notification-capture to see the form of a delivery; values are left out"},
}

func sentText(sent map[string]int) string {
	var parts []string
	for _, kind := range slices.Sorted(maps.Keys(sent)) {
		text := fmt.Sprintf("%d %s", sent[kind], kind)
		if kind == "login" {
			text = plural(int64(sent[kind]), kind)
		}
		parts = append(parts, text)
	}
	return strings.Join(parts, ", ")
}

// connection collects what check-connection needs to know, and the service object that it is for.
func (s *session) connection(ctx context.Context, flags *connectionFlags) (*readings.Options, service, error) {
	applications, err := parseApplications(flags.applications)
	if err != nil {
		return nil, nil, err
	}
	options := &readings.Options{UserAgent: fieldManager, Applications: applications, Report: flags.report}
	target, err := s.target(ctx, flags, options)
	if err != nil {
		return nil, nil, err
	}
	settings := &options.Settings
	settings.BaseURL = cmp.Or(flags.baseURL, settings.BaseURL)
	if flags.file != "" {
		if options.Credentials, err = s.credentialsFile(flags.file); err != nil {
			return nil, nil, err
		}
	}
	if !areSet(options.Credentials) {
		if options.Credentials, err = credentialsFromEnvironment(settings.BaseURL); err != nil {
			return nil, nil, err
		}
	}
	settings.BaseURL = cmp.Or(settings.BaseURL, os.Getenv("IDV_BASE_URL"))
	file := flags.caFile
	if file == "" && settings.CABundle == "" {
		file = os.Getenv("IDV_CA_FILE")
	}
	if file != "" {
		settings.CABundle, err = readCertificates(file)
	}
	return options, target, err
}

// readCertificates reads the certificates of a PEM file, and nothing else: they are printed.
func readCertificates(name string) (string, error) {
	content, err := os.ReadFile(name)
	if err != nil {
		return "", usageError("--ca-file: %w", err)
	}
	var certificates []byte
	for block, rest := pem.Decode(content); block != nil; block, rest = pem.Decode(rest) {
		if block.Type == "CERTIFICATE" {
			certificates = append(certificates, pem.EncodeToMemory(block)...)
		}
	}
	if len(certificates) == 0 {
		return "", usageError("--ca-file %s: holds no PEM certificate; set certificates in PEM format", name)
	}
	return string(certificates), nil
}
