package sandbox_test

import (
	"bytes"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/mandate-io/idv/internal/sandbox"
	"github.com/mandate-io/idv/internal/sandbox/control"
)

// get fetches a path beside the interface.
func (s *testService) get(path, accept string) response {
	s.t.Helper()
	request, err := http.NewRequestWithContext(s.t.Context(), http.MethodGet, s.url+path, http.NoBody)
	noError(s.t, err)
	request.Header.Set("Accept", accept)
	got, err := send(request)
	noError(s.t, err)
	return got
}

// TestManual compares the manual.
func TestHelpAndPageListTheSameRoutes(t *testing.T) {
	s := startSandbox(t, sandbox.Options{})
	routes, _ := s.get(control.Prefix+"/", "application/json").tree().([]any)
	help, page := string(s.get(control.Prefix+"/", "").body), string(s.get("/", "text/html").body)
	if len(routes) < 20 {
		t.Fatalf("only %d routes", len(routes))
	}
	for _, route := range routes {
		line := fmt.Sprintf("%-6s %s%s", at(route, "method"), control.Prefix, at(route, "path"))
		summary := fmt.Sprint(at(route, "summary"))
		if !strings.Contains(help, line+" ") || !strings.Contains(help, summary) {
			t.Errorf("the help lacks %q", line)
		}
		if !strings.Contains(page, fmt.Sprintf("<code>%s%s</code>", control.Prefix, at(route, "path"))) {
			t.Errorf("the page lacks %q", line)
		}
	}
}

func TestControlRefuses(t *testing.T) {
	s := startSandbox(t, sandbox.Options{})
	path := s.create(mandate("done", "jane"))
	s.play(control.Play{Reference: "done"})
	s.must(http.MethodPatch, path+"/complete", object{})
	s.create(mandate("acme", "jane"))
	ctx := t.Context()
	play := func(p control.Play) error {
		_, err := s.Play(ctx, p)
		return err
	}
	advance := func(by time.Duration) error {
		_, err := s.Advance(ctx, by)
		return err
	}
	cases := map[string]struct {
		err    error
		status int
		field  string // the prefix of the message
	}{
		"playing nobody's application": {play(control.Play{Reference: "nobody"}), 404, "reference: "},
		"playing an id of nothing":     {play(control.Play{ApplicationID: 1}), 404, "application_id: "},
		"playing nothing named":        {play(control.Play{}), 400, "application_id: "},
		"playing a stranger":           {play(control.Play{Reference: "acme", Individual: "stranger"}), 404, "individual: "},
		"playing a check there is not": {play(control.Play{Reference: "acme", Check: "palmistry"}), 404, "check: "},
		"playing an unknown step":      {play(control.Play{Reference: "acme", Step: "dance"}), 400, "step: "},
		"playing an unknown result":    {play(control.Play{Reference: "acme", Result: "maybe"}), 400, "result: "},
		"playing what is concluded":    {play(control.Play{Reference: "done"}), 409, "the application is concluded"},
		"the year 1":                   {s.SetClock(ctx, time.Time{}), 400, "now: "},
		"two centuries at once":        {advance(200 * 365 * 24 * time.Hour), 400, "seconds: "},
		"an autoplay delay below zero": {s.SetAutoplay(ctx, control.Autoplay{DelayMillis: -1}), 400, "delay_ms: "},
		"no dialect of this name":      {s.SetDialect(ctx, "klingon", "yes"), 400, `unknown dialect switch "klingon"`},
		"a lag that is no number":      {s.SetDialect(ctx, "readLag", "long"), 400, "dialect switch readLag "},
		"a lag below zero":             {s.SetDialect(ctx, "readLag", "-1"), 400, "dialect switch readLag "},
	}
	for name, c := range cases {
		var refused *control.Error
		if !errors.As(c.err, &refused) || refused.Status != c.status || !strings.HasPrefix(refused.Message, c.field) {
			t.Errorf("%s: %v, want status %d and %q", name, c.err, c.status, c.field)
		}
	}
	short := s.play(control.Play{Reference: "acme", Step: control.AcceptTerms})
	wantEqual(t, "nobody was played before", "in progress", short.State)
}

// People type these requests without the help of Go's types.
func TestControlNamesTheFieldOfABadBody(t *testing.T) {
	const badTime = "now: must be a time in RFC 3339 format, for example 2026-01-31T12:00:00Z"
	const badCount = "count: is required; 0 means none"
	const badRoute = "no such route or method; GET /sandbox/v1/ lists the routes"
	s := startSandbox(t, sandbox.Options{})
	cases := map[string]struct {
		method, path, body string
		want               string // of the message
	}{
		"nothing":     {"POST", "/play", "", "the body must be a JSON object: EOF"},
		"a list":      {"POST", "/play", "[]", "the body must be a JSON object, not a JSON array"},
		"two objects": {"POST", "/play", "{} {}", "the body must be one JSON object; remove what follows it"},
		"a misspelled field": {
			"POST", "/play", `{"mandate": "a"}`, "mandate: unknown field; GET /sandbox/v1/ lists the fields",
		},
		"a number in words": {
			"POST", "/faults", `{"times": "once"}`, "times: must be an integer, not a JSON string",
		},
		"a step that is a number": {"POST", "/play", `{"step": 1}`, "step: must be a string, not a JSON number"},
		"steps without a pause":   {"PUT", "/autoplay", `{"delay_ms": 0}`, "delay_ms: must be 1 to 3600000"},
		"yes in words": {
			"PUT", "/autoplay", `{"enabled": "yes"}`, "enabled: must be true or false, not a JSON string",
		},
		"a time that is none":        {"PUT", "/clock", `{"now": "tomorrow"}`, badTime},
		"no time":                    {"PUT", "/clock", "{}", badTime},
		"a sequence number in words": {"GET", "/outbox?after=soon", "", "after: must be a sequence number"},
		"a switch that takes no list": {
			"PUT", "/dialects", `{"wrap": []}`, `dialect switch wrap cannot be "[]"; use one of none, data`,
		},
		"an operation that is none": {
			"POST", "/verify/requests", `{"operation": "create_applications", "count": 0}`,
			fmt.Sprint("operation: must be one of ", append(control.Operations(), control.Unknown)),
		},
		"a kind that is none": {
			"POST", "/verify/emails", `{"kind": "Invite", "count": 0}`, "kind: must be one of [invite resend reset notice]",
		},
		"an account that is none": {
			"POST", "/verify/requests", `{"account": "a", "count": 0}`, `account: there is no account "a" (not found)`,
		},
		"requests without a count": {"POST", "/verify/requests", `{"reference": "a"}`, badCount},
		"e-mails without a count":  {"POST", "/verify/emails", `{"address": "jane@example.com"}`, badCount},
		"a status in words": {
			"POST", "/verify/requests", `{"status": "ok", "count": 0}`, "status: must be an integer, not a JSON string",
		},
		"no such route":  {"GET", "/nothing", "", badRoute},
		"no such method": {"GET", "/play", "", badRoute},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			got := s.control(c.method, c.path, c.body)
			if got.status != http.StatusBadRequest && got.status != http.StatusNotFound {
				t.Errorf("status code %d", got.status)
			}
			wantEqual(t, "message", any(c.want), got.at("error"))
		})
	}
}

// A number can be a JSON number or a string. A member that the body omits keeps its value.
func TestControlTakesWhatIsMeant(t *testing.T) {
	s := startSandbox(t, sandbox.Options{Autoplay: true})
	wantEqual(t, "status code", http.StatusNoContent, s.control("PUT", "/dialects", `{"readLag": 2}`).status)
	switches, err := s.Dialects(t.Context())
	noError(t, err)
	for _, one := range switches {
		if one.Name == "readLag" {
			wantEqual(t, "readLag", "2", one.Value)
		}
	}
	wantEqual(t, "status code", http.StatusNoContent, s.control("PUT", "/autoplay", `{"delay_ms": 9}`).status)
	mode, err := s.Autoplay(t.Context())
	noError(t, err)
	wantEqual(t, "mode", control.Autoplay{Enabled: true, DelayMillis: 9}, mode)
}

// control sends a body to the control API as it is.
func (s *testService) control(method, path, body string) response {
	s.t.Helper()
	request, err := http.NewRequestWithContext(s.t.Context(), method, s.url+control.Prefix+path, strings.NewReader(body))
	noError(s.t, err)
	got, err := send(request)
	noError(s.t, err)
	return got
}

// Somebody at the service can reopen an application, and move it to a state that the documentation does not have.
func TestSetState(t *testing.T) {
	s := startSandbox(t, sandbox.Options{})
	path := s.create(mandate("acme", "jane"))
	s.play(control.Play{Reference: "acme"})
	set := func(state string) {
		t.Helper()
		got, err := s.SetState(t.Context(), control.StateChange{Reference: "acme", State: state})
		noError(t, err)
		wantEqual(t, "state", state, got.State)
		wantEqual(t, "state", any(state), statusName(s.must("GET", path, nil)))
	}
	for _, operation := range []string{"/complete", "/reject"} {
		s.must(http.MethodPatch, path+operation, object{})
		wantProblem(t, s.request(http.MethodPatch, path+operation, object{}), http.StatusBadRequest)
		set("in review")
	}
	for _, final := range []string{"cancelled", "withdrawn", "expired", "rejected", "ein Wort"} {
		set(final)
		wantProblem(t, s.request(http.MethodPatch, path+"/complete", object{}), http.StatusBadRequest)
		wantProblem(t, s.request(http.MethodPost, s.person(path)+"/reset", object{}), http.StatusBadRequest)
	}
	set("in progress")
	s.must(http.MethodPost, s.person(path)+"/reset", object{})
	wantEqual(t, "e-mails", 2, len(s.emails()))
	for wanted, field := range map[control.StateChange]string{
		{State: "x"}:                      "application_id: ",
		{State: "x", Reference: "nobody"}: "reference: ",
		{Reference: "acme"}:               "state: ",
	} {
		_, err := s.SetState(t.Context(), wanted)
		var refused *control.Error
		if !errors.As(err, &refused) || !strings.HasPrefix(refused.Message, field) {
			t.Errorf("%+v: %v, want %q", wanted, err, field)
		}
	}
}

func TestClock(t *testing.T) {
	start := time.Date(2031, 5, 1, 12, 0, 0, 0, time.UTC)
	s := startSandbox(t, sandbox.Options{StartTime: start})
	ctx := t.Context()
	near := func(what string, want time.Time) {
		t.Helper()
		now, err := s.Now(ctx)
		noError(t, err)
		if off := now.Sub(want); off < 0 || off > time.Minute {
			t.Errorf("%s: the clock shows %s, want %s", what, now, want)
		}
	}
	near("at first", start)
	advanced, err := s.Advance(ctx, 48*time.Hour)
	noError(t, err)
	near("advanced", start.Add(48*time.Hour))
	if advanced.Before(start.Add(48 * time.Hour)) {
		t.Errorf("advance answers %s", advanced)
	}
	noError(t, s.SetClock(ctx, start.Add(-time.Hour)))
	near("set back", start.Add(-time.Hour))
	noError(t, s.Reset(ctx))
	near("reset", start)
}

func TestResetForgetsEverythingButIDs(t *testing.T) {
	options := sandbox.Options{}
	noError(t, options.Dialect.Parse("createStatus=201"))
	s := startSandbox(t, options)
	ctx := t.Context()
	before := s.must(http.MethodPost, "/ext/applications", mandate("acme", "jane"))
	noError(t, s.SetDialect(ctx, "createStatus", "202"))
	noError(t, s.Fault(ctx, control.Fault{Operation: control.AnyOperation, Kind: control.Close, Times: control.Always}))
	noError(t, s.Reset(ctx))

	wantEqual(t, "the token", http.StatusUnauthorized, s.request("GET", "/ext/references", nil).status)
	s.token = s.login()
	wantEqual(t, "e-mails", 0, len(s.emails()))
	after := s.must(http.MethodPost, "/ext/applications", mandate("acme", "jane"))
	wantEqual(t, "status code, as it was started", http.StatusCreated, after.status)
	if fmt.Sprint(before.at("id")) >= fmt.Sprint(after.at("id")) {
		t.Errorf("id %v came after %v", after.at("id"), before.at("id"))
	}
	stats, err := s.Stats(ctx)
	noError(t, err)
	wantEqual(t, "creates counted", int64(1), stats.Requests(control.CreateApplication))
	noError(t, s.ResetStats(ctx))
	stats, err = s.Stats(ctx)
	noError(t, err)
	wantEqual(t, "creates counted after that", int64(0), stats.Requests(control.CreateApplication))
}

func TestAutoplay(t *testing.T) {
	cases := map[string]struct {
		email  string
		state  string // of the application
		checks string // of each check
	}{
		"everybody passes":           {"jane@example.com", "in review", "passed"},
		"unless tagged fail":         {"jane+fail@example.com", "in review", "failed"},
		"or review":                  {"jane+review@example.com", "in review", "in review"},
		"a tag that means nothing":   {"jane+work@example.com", "in review", "passed"},
		"fail as a name is no tag":   {"jane@fail.example.com", "in review", "passed"},
		"a person without an e-mail": {"", "in review", "passed"},
	}
	s := startSandbox(t, sandbox.Options{Autoplay: true, AutoplayDelay: time.Millisecond})
	idle := changed(object{"reference": "idle", "individuals": []object{{"email": "joe+idle@example.com"}}})
	idlePath := s.create(idle)
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			s.t = t
			s.create(changed(object{"reference": name, "individuals": []object{{"email": c.email}}}))
			eventually(t, func() string {
				applications, err := s.Applications(t.Context())
				noError(t, err)
				app := applications[len(applications)-1]
				if app.State != c.state {
					return "the application is " + app.State
				}
				for _, check := range app.Individuals[0].Checks {
					wantEqual(t, check.Name, c.checks, check.State)
				}
				return ""
			})
		})
	}
	s.t = t
	wantEqual(t, "idle", any("created"), statusName(s.must("GET", idlePath, nil)))
}

func TestAutoplaySwitches(t *testing.T) {
	s := startSandbox(t, sandbox.Options{AutoplayDelay: 7 * time.Millisecond})
	ctx := t.Context()
	path := s.create(mandate("acme", "jane"))
	noError(t, s.SetAutoplay(ctx, control.Autoplay{Enabled: true}))
	mode, err := s.Autoplay(ctx)
	noError(t, err)
	wantEqual(t, "mode", control.Autoplay{Enabled: true, DelayMillis: 7}, mode)
	eventually(t, func() string {
		if state := statusName(s.must("GET", path, nil)); state != "in review" {
			return fmt.Sprint("the application is ", state)
		}
		return ""
	})
	noError(t, s.SetAutoplay(ctx, control.Autoplay{DelayMillis: 3}))
	mode, err = s.Autoplay(ctx)
	noError(t, err)
	wantEqual(t, "mode", control.Autoplay{DelayMillis: 3}, mode)
}

// One reference, many callers: the service's check is not subject to races.
func TestParallelCreates(t *testing.T) {
	s := startSandbox(t, sandbox.Options{Autoplay: true, AutoplayDelay: time.Millisecond})
	var callers sync.WaitGroup
	statuses := make(chan int, 16)
	for range cap(statuses) {
		callers.Go(func() {
			got, err := s.try(http.MethodPost, "/ext/applications", mandate("acme", "jane"))
			if err != nil {
				t.Error(err)
			}
			statuses <- got.status
		})
	}
	callers.Wait()
	close(statuses)
	counts := map[int]int{}
	for status := range statuses {
		counts[status]++
	}
	wantEqual(t, "statuses", map[int]int{200: 1, 400: 15}, counts)
	wantEqual(t, "e-mails", 1, len(s.emails()))
}

func TestLogsHoldNothingPersonal(t *testing.T) {
	var log lockedBuffer
	s := startSandbox(t, sandbox.Options{Logger: slog.New(slog.NewJSONHandler(&log, nil))})
	path := s.create(object{"name": "Canary-name", "reference": "Canary-reference", "mandate_type": kyc,
		"individuals": []object{{
			"email": "canary@example.com", "first_name": "Canary", "reference": "Canary-person",
		}}})
	s.request(http.MethodPost, "/ext/applications", object{"name": "Canary", "individuals": []object{{"email": "canary"}}})
	s.request(http.MethodPost, "/ext/applications", `{"name": "Canary`)
	s.play(control.Play{Reference: "Canary-reference"})
	s.must("GET", path, nil)
	text := log.String()
	id := strings.TrimPrefix(path, "/ext/applications/")
	for _, secret := range []string{"anary", s.token, sandbox.DefaultPassword, id} {
		if strings.Contains(text, secret) {
			t.Errorf("the log holds %q:\n%s", secret, text)
		}
	}
	for _, wanted := range []string{
		`"operation":"create_application"`, `"route":"/api/v1/ext/applications/{id}"`, `"status":200`, `"duration":`,
	} {
		if !strings.Contains(text, wanted) {
			t.Errorf("the log lacks %s:\n%s", wanted, text)
		}
	}
}

type lockedBuffer struct {
	mu     sync.Mutex
	buffer bytes.Buffer
}

func (b *lockedBuffer) Write(data []byte) (int, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.buffer.Write(data)
}

func (b *lockedBuffer) String() string {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.buffer.String()
}
