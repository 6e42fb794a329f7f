package plugin

import (
	"cmp"
	"context"
	"encoding/pem"
	"fmt"
	"os"
	"slices"
	"strconv"
	"strings"

	"github.com/spf13/cobra"
	ctrl "sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/yaml"

	"github.com/mandate-io/idv/api/v1alpha1"
	"github.com/mandate-io/idv/internal/lifecycle"
	"github.com/mandate-io/idv/internal/printable"
	"github.com/mandate-io/idv/plugin/readings"
)

// connectionFlags are those of check-connection.
type connectionFlags struct {
	service                       serviceFlags
	baseURL, secret, file, caFile string
	grantType, authorization      string
	applications, mandates        []string // ID or ID=meaning, NAME or NAME=meaning
	report                        bool
}

const connectionHelp = "Find out how a service handles what its interface leaves open, and print the manifest of the " +
	"service object and the provider block with the right settings. The command sends at most six logins, of which at " +
	"most two are refused, a few GETs and two OPTIONS, and repeats what gets a 429. It creates and changes nothing, and " +
	"e-mails nobody.\n\n" +
	"The credentials come from one source: the file of --credentials-file, else the Secret of --secret or of the " +
	"service object, else, if none is named, the environment (IDV_USERNAME, IDV_PASSWORD, IDV_CLIENT_ID, " +
	"IDV_CLIENT_SECRET). They are never arguments, because other users of this machine can see arguments. The command " +
	"says where they go, and asks for confirmation on a terminal; otherwise, it needs --yes. If you have both pairs, " +
	"give both."

func (s *session) checkConnectionCommand() *cobra.Command {
	flags := connectionFlags{}
	command := &cobra.Command{
		Use:   "check-connection",
		Short: "Find out which settings a service needs, with reads only",
		Long:  connectionHelp,
		Example: `  IDV_USERNAME=api-user IDV_PASSWORD=... kubectl mandate check-connection --base-url https://idv.example.com
  kubectl mandate check-connection -n onboarding --identityservice default
  kubectl mandate check-connection -n onboarding --identityservice default --mandate first=inReview
  kubectl mandate check-connection -n onboarding --identityservice default --mandate first -o sandbox >sandbox.yaml`,
		Args: exactArgs(0),
		RunE: func(command *cobra.Command, _ []string) error {
			options, target, err := s.connection(command.Context(), &flags)
			if err != nil {
				return err
			}
			result, err := readings.Check(command.Context(), *options)
			if err != nil {
				return fmt.Errorf("%w", err)
			}
			if err := s.showReadings(result, target); err != nil {
				return err
			}
			if result.Problem != "" {
				return &exitError{exitNotReached, fmt.Errorf("the connection does not work yet: %s", result.Problem)}
			}
			return nil
		},
	}
	flags.addTo(command)
	s.addYes(command)
	s.addOutput(command, "sandbox")
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
	set.StringVar(&f.grantType, "grant-type", "", "Try this grant_type first. Default: that of the service object.")
	set.StringVar(&f.authorization, "token-authorization", "",
		"Try this first: Auto, None, Basic or UserBasic. Default: that of the service object.")
	set.StringArrayVar(&f.applications, "application", nil,
		"Also read the application with this ID. Use ID=inReview and so on if you know what its state means. Repeatable.")
	set.StringArrayVar(&f.mandates, "mandate", nil,
		"Also read the application of this Mandate. Otherwise as --application.")
	set.BoolVar(&f.report, "report", false,
		"Also read the report on the first individual, which is personal data. Nothing of it is kept. Default: false.")
}

// parseApplications reads --mandate and --application.
func (s *session) parseApplications(ctx context.Context, flags *connectionFlags) ([]readings.Application, error) {
	var applications []readings.Application
	for i, flag := range slices.Concat(flags.mandates, flags.applications) {
		name, meaning, said := strings.Cut(flag, "=")
		application := readings.Application{Meaning: readings.Meaning(meaning)}
		if said && !slices.Contains(readings.Meanings, application.Meaning) {
			return nil, fmt.Errorf("%q: use ID or NAME alone, or with one of %v", flag, readings.Meanings)
		}
		var err error
		if i < len(flags.mandates) {
			err = s.applicationOf(ctx, name, &application)
		} else if application.ID, err = strconv.ParseInt(name, 10, 64); err != nil || application.ID < 1 {
			err = fmt.Errorf("--application %q: use ID, or ID=inReview and so on", flag)
		}
		if err != nil {
			return nil, err
		}
		applications = append(applications, application)
	}
	return applications, nil
}

// applicationOf reads the application of a Mandate from its status.
func (s *session) applicationOf(ctx context.Context, name string, application *readings.Application) error {
	c, err := s.cluster()
	if err != nil {
		return err
	}
	m, err := c.mandate(ctx, name)
	if err != nil {
		return err
	}
	if m.Status.ApplicationID == nil {
		return fmt.Errorf("the Mandate %s has no application yet", name)
	}
	application.ID, application.Reference = *m.Status.ApplicationID, m.Status.Reference
	for i := range m.Status.Individuals {
		application.Individuals = append(application.Individuals, m.Status.Individuals[i].ID)
	}
	return nil
}

// connectionView is what check-connection prints.
type connectionView struct {
	*readings.Result

	// Kind is that of Manifest. Manifest and Provider, a configuration, make use of the findings.
	Kind     string `json:"manifestKind,omitempty"`
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
	text, err := yaml.Marshal(manifestOf(target, specOf(target)))
	v.Manifest = fmt.Sprintf("# The Secret %s needs the keys %s.\n# Its type is idv.mandate.io/credentials.\n%s",
		target.CredentialsSecret().Name, result.Suggestion.Keys(), text)
	return v, err
}

func (s *session) showReadings(result *readings.Result, target service) error {
	if s.output.format == "sandbox" {
		if result.Find("grantType").Reading == "" {
			return nil // without a login, nobody knows how the service answers
		}
		file, err := result.Sandbox()
		fmt.Fprint(s.Out, file)
		return err
	}
	v, err := newConnectionView(result, target)
	if err != nil {
		return err
	}
	return s.show(false, []printed{printedOf(target, v)}, func(p *printer) { p.connection(v) })
}

func (p *printer) connection(v *connectionView) {
	_, dialect := v.Dialect()
	p.line(p.styled(bold, "What the reads showed"))
	for _, f := range v.Findings {
		if f.Reading != "" && f.Text != "" {
			p.finding(f.Point, f.Text)
		}
	}
	p.wrap("  in the words of the sandbox: ", "    ", strings.Join(dialect, " "))
	p.line()
	p.line(p.styled(bold, "What they did not show"))
	for _, f := range v.Findings {
		if f.Reading == "" {
			p.finding(f.Point, f.Text)
		}
	}
	p.line()
	p.states(v.States)
	var sent []string
	for _, kind := range sortedKeys(v.Sent) {
		sent = append(sent, plural(int64(v.Sent[kind]), kind))
	}
	p.wrap("", "", "Sent: "+strings.Join(sent, ", ")+". Nothing was created or changed, and nobody was e-mailed.")
	if v.Problem == "" {
		p.line()
		p.line(p.styled(bold, v.Kind+" with these settings"))
		p.WriteString(v.Manifest)
		p.line()
		p.line(p.styled(bold, "Provider block with these settings"))
		p.WriteString(v.Provider)
		p.line()
		p.line("Next: docs/first-contact.md, with two e-mail addresses of your own.")
	}
}

// states lists the names of states with what they mean, and what to set for those that nobody has explained.
func (p *printer) states(states []v1alpha1.StateStatus) {
	if len(states) == 0 {
		return
	}
	p.line(p.styled(bold, "States of applications"))
	for _, s := range states {
		text := string(s.Stage)
		if text == lifecycle.Unknown.String() {
			text += fmt.Sprintf(": if it means in review, set states: {inReview: [%q]} in the spec; likewise completed, "+
				"rejected, and closed if it is over otherwise", s.Name)
		}
		p.finding(printable.Text(s.Name), text)
	}
	p.line()
}

func (p *printer) finding(name, text string) {
	p.wrap(fmt.Sprintf("  %-19s ", name), strings.Repeat(" ", 22), text)
}

// connection collects what check-connection needs to know, and the service object that it is for: the one that the
// flags name, or else a new one.
func (s *session) connection(ctx context.Context, flags *connectionFlags) (*readings.Options, service, error) {
	applications, err := s.parseApplications(ctx, flags)
	if err != nil {
		return nil, nil, err
	}
	target, from, err := s.target(ctx, flags)
	if err != nil {
		return nil, nil, err
	}
	options := &readings.Options{
		Settings: *target.Settings(), Credentials: from.Credentials, UserAgent: program, Applications: applications,
		Report: flags.report, States: target.ServiceStatus().States,
	}
	settings := &options.Settings
	if settings.BaseURL, err = from.belongsTo(cmp.Or(flags.baseURL, settings.BaseURL)); err != nil {
		return nil, nil, err
	}
	settings.TokenRequest.GrantType = cmp.Or(v1alpha1.GrantType(flags.grantType), settings.TokenRequest.GrantType)
	settings.TokenAuthorization = cmp.Or(v1alpha1.TokenAuthorization(flags.authorization), settings.TokenAuthorization)
	file := flags.caFile
	if file == "" && settings.CABundle == "" {
		file = os.Getenv("IDV_CA_FILE")
	}
	if file != "" {
		if settings.CABundle, err = readCertificates(file); err != nil {
			return nil, nil, err
		}
	}
	where := printable.Text(fmt.Sprintf("the credentials of %s to %s", from.name, settings.BaseURL))
	if s.yes {
		fmt.Fprintln(s.ErrOut, "Sending", where)
	}
	return options, target, s.confirm(ctx, fmt.Sprintf("Send %s?", where))
}

// target is the service object, and the source of the credentials.
func (s *session) target(ctx context.Context, flags *connectionFlags) (service, *source, error) {
	namespace, err := s.namespace()
	if err != nil {
		return nil, nil, err
	}
	key, named := flags.service.key(namespace)
	key.Name = cmp.Or(key.Name, "default")
	found, c := emptyService(key), (*cluster)(nil)
	useSecret(found, v1alpha1.NamespacedSecretReference{Name: "idv"})
	if named || flags.secret != "" {
		if c, err = s.cluster(); err != nil {
			return nil, nil, err
		}
	}
	if named {
		if found, err = c.read(ctx, key); err != nil {
			return nil, nil, err
		}
	}
	own := found.Settings().BaseURL // where the Secret of the object belongs
	if flags.secret != "" {
		own = ""
		useSecret(found, v1alpha1.NamespacedSecretReference{Namespace: namespace, Name: flags.secret})
	}
	var from *source
	switch ref := found.CredentialsSecret(); {
	case flags.file != "":
		from, err = s.fileSource(ctx, flags.file)
	case c != nil:
		from, err = c.secretSource(ctx, ctrl.ObjectKey{Namespace: ref.Namespace, Name: ref.Name}, own)
	default:
		from = environment()
	}
	return found, from, err
}

// readCertificates reads the certificates of a PEM file, and nothing else: they are printed.
func readCertificates(name string) (string, error) {
	content, err := os.ReadFile(name)
	if err != nil {
		return "", fmt.Errorf("--ca-file: %w", err)
	}
	var certificates []byte
	for block, rest := pem.Decode(content); block != nil; block, rest = pem.Decode(rest) {
		if block.Type == "CERTIFICATE" {
			certificates = append(certificates, pem.EncodeToMemory(block)...)
		}
	}
	if len(certificates) == 0 {
		return "", fmt.Errorf("--ca-file %s: holds no PEM certificate; set certificates in PEM format", name)
	}
	return string(certificates), nil
}
