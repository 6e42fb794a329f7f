package readings_test

import (
	"net/http"
	"slices"
	"strings"
	"testing"

	"github.com/mandate-io/idv/internal/client"
	"github.com/mandate-io/idv/internal/sandbox/control"
	"github.com/mandate-io/idv/internal/sandbox/dialect"
	"github.com/mandate-io/idv/plugin/readings"
)

// hidden are values that look like another one to the reads, or like nothing, which is "".
var hidden = map[string]string{
	"absentValues=by_type":            "empty", // the application has no absent value that is null by its type
	"grantType=either":                "password",
	"grantType=any":                   "password",
	"individualOrder=by_name":         "newest_first", // there are two people
	"referenceFormat=strict":          "",             // the references of the applications are plain
	"stateNames=declined":             "documented",   // the application is in review
	"stateNames=rejected_by_reviewer": "documented",

	"forbiddenObject=none":   "",
	"ingress404=none":        "",
	"ingress404=changes":     "", // no change is sent
	"ingress404=all":         "", // as if the base URL was another one
	"readAnswer=documented":  "",
	"retrieveWebhook=404":    "", // as if there was no subscription
	"noWebhooks=by_shape":    "404",
	"trailingSlash=not_used": "",
	"wrongMethod=404":        "", // as of an application that does not exist
	"wrongMethod=405":        "405",

	"apiPermission=login_400": "", // as of wrong credentials
	"apiPermission=login_401": "",
	"apiPermission=login_403": "",
}

const unread = "the reference data cannot be read"

// problems are parts of Result.Problem where the service cannot be used.
var problems = map[string]string{
	"apiPermission=401": "no API permission", "apiPermission=403": "no API permission",
	"apiPermission=login_400": "the user lacks the API permission",
	"apiPermission=login_401": "the user lacks the API permission",
	"apiPermission=login_403": "the user lacks the API permission",
	"ingress404=all":          "the login path was not found",
	"readAnswer=html":         unread, "readAnswer=problem": unread, "readAnswer=success_false": unread,
	"readAnswer=error_member": unread, "readAnswer=cut_off": unread,

	"trailingSlash=redirect_301": "redirects every path", "trailingSlash=redirect_308": "redirects every path",
}

// beside are what has to hold besides for a switch to show.
var beside = map[string]dialect.Dialect{
	"forbiddenAnswer": {ForbiddenObject: dialect.ForbiddenUnknown},
	"forbiddenStatus": {ForbiddenObject: dialect.ForbiddenUnknown},
	"ingressBody":     {Ingress404: dialect.IngressApplications},
	"loginRefusal":    {Credentials: dialect.CredentialsClient},
	"noWebhooks":      {SubscribeApplication: dialect.SubscribeApplicationRefused},
	"rateLimitAnswer": {RateLimit: 4},
	"tokenRefusal":    {OlderTokens: dialect.OlderTokensRevoked},
}

// prepare changes the service or the options, for a switch to show.
var prepare = map[string]func(*service, *readings.Options){
	"stateNames": func(_ *service, o *readings.Options) { o.Applications[0].Meaning = readings.InReview },
	"goneAnswer": func(s *service, o *readings.Options) {
		o.Applications[0].Meaning = readings.Deleted
		s.newClient(func(c *client.Client) error {
			_, err := c.DeleteApplication(s.Context(), o.Applications[0].ID)
			return err
		})
	},
	"reportFormat": func(_ *service, o *readings.Options) { o.Report = true },
	"reportNotReady": func(s *service, o *readings.Options) {
		o.Report = true
		s.newClient(func(c *client.Client) error {
			_, err := c.ResetIndividual(s.Context(), o.Applications[0].Individuals[0])
			return err
		})
	},
	"forbiddenOperation": func(_ *service, o *readings.Options) { o.Report = true },
}

// newClient has a client do something that the check may not, before it.
func (s *service) newClient(use func(*client.Client) error) {
	s.Helper()
	c, err := client.New(client.Config{BaseURL: s.url, Credentials: credentials, RequestsPerSecond: -1})
	s.check(err)
	defer c.Close()
	s.check(use(c))
}

// TestEveryDialect looks at the sandbox in each value of each switch.
func TestEveryDialect(t *testing.T) {
	later := map[string]int{}
	for _, one := range readings.Laters {
		for name := range strings.FieldsSeq(one.Switches) {
			later[name]++
		}
	}
	for _, s := range (dialect.Dialect{}).Switches() {
		times, isLater := later[s.Name]
		delete(later, s.Name)
		if isLater && times == 1 {
			continue
		} else if isLater || s.Number {
			t.Errorf("%s: %d points that no read shows have it, want 1", s.Name, times)
			continue
		}
		for _, value := range s.Values {
			t.Run(s.Name+"="+value, func(t *testing.T) {
				t.Parallel()
				d := beside[s.Name]
				if err := d.Set(s.Name, value); err != nil {
					t.Fatal(err)
				}
				lookAt(t, d, s.Name, value)
			})
		}
	}
	for name := range later {
		t.Errorf("the sandbox has no switch %s", name)
	}
}

func lookAt(t *testing.T, d dialect.Dialect, name, value string) {
	t.Helper()
	service := newService(t, d)
	options := service.options()
	if value == dialect.TokenBasicUser { // with four credentials, it would be the third login
		options.Credentials.ClientID, options.Credentials.ClientSecret = "", client.Secret{}
	}
	if change := prepare[name]; change != nil {
		change(service, &options)
	}
	result := service.run(options)
	want, isHidden := hidden[name+"="+value]
	if !isHidden && (name != "forbiddenOperation" || isRead(value)) {
		want = value
	}
	if got := result.Find(name); got.Reading != want {
		t.Errorf("%s is %q (%s), want %q\n%+v", name, got.Reading, got.Text, want, result)
	}
	problem := problems[name+"="+value]
	if !strings.Contains(result.Problem, problem) || problem == "" && result.Problem != "" {
		t.Errorf("problem %q, want %q", result.Problem, problem)
	}
	for _, f := range result.Findings { // each is what the sandbox can be set to
		isSwitch := slices.ContainsFunc(d.Switches(), func(s control.Switch) bool { return s.Name == f.Point })
		if err := new(dialect.Dialect).Set(f.Point, f.Reading); isSwitch && f.Reading != "" && err != nil {
			t.Error(err)
		}
	}
}

// isRead reports whether an operation is one that the check sends.
func isRead(operation string) bool {
	return slices.Contains([]control.Operation{
		control.References, control.RetrieveApplication, control.RetrieveIndividual, control.IndividualReport,
		control.RetrieveWebhook,
	}, control.Operation(operation))
}

// A 406 is about the format of the report, and says nothing about when it is ready.
func TestNoFormatOfTheReport(t *testing.T) {
	s := newService(t, dialect.Dialect{})
	s.check(s.control.Fault(t.Context(), control.Fault{
		Operation: control.IndividualReport, Kind: control.Answer, Status: http.StatusNotAcceptable, Times: 9,
	}))
	options := s.options()
	options.Report = true
	result := s.run(options)
	got := result.Find("reportFormat")
	if !strings.Contains(got.Text, "in no format") || result.Find("reportNotReady").Point != "" {
		t.Errorf("%+v", result.Findings)
	}
}
