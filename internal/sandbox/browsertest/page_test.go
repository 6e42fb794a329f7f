package browsertest

import (
	"fmt"
	"net/http"
	"os/exec"
	"slices"
	"strings"
	"testing"

	"github.com/chromedp/chromedp"

	"github.com/mandate-io/idv/internal/sandbox"
	"github.com/mandate-io/idv/internal/sandbox/config"
	"github.com/mandate-io/idv/internal/sandbox/control"
)

func TestPageInABrowser(t *testing.T) {
	open := startBrowser(t)
	// Browsers log every response that is not 2xx.
	const badRequest = "error: Failed to load resource: the server responded with a status of 400 (Bad Request)"
	cases := map[string]struct {
		try     func(*testing.T, *testService, *tab)
		options sandbox.Options
		logs    []string
	}{
		"the commands of the empty page": {try: tryCommands},
		"a person from invite to end":    {try: tryPerson},
		"everybody at once":              {try: tryEverybody},
		"names that are markup":          {try: tryHostileNames},
		"ids too large for a number":     {try: tryPerson, options: withSwitch(t, "idSize", "above_53_bits")},
		"dialects":                       {try: tryDialects, logs: []string{badRequest}},
		"faults":                         {try: tryFaults},
		"the clock":                      {try: tryClock},
		"autoplay":                       {try: tryAutoplay},
		"statistics, tokens and reset":   {try: tryReset},
		"keys only":                      {try: tryKeys},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			s := startSandbox(t, tc.options)
			tab := open(t, s.url)
			// A reload would remove this property, and nothing may need a reload.
			value[int](tab, "window.notReloaded = 1")
			tc.try(t, s, tab)
			wantEqual(t, "the same document", 1, value[int](tab, "window.notReloaded"))
			wantEqual(t, "errors on the console", tc.logs, tab.logged())
		})
	}
}

// The page is about the first account, until another one is selected.
func TestAccountsInABrowser(t *testing.T) {
	const withPerson = "mandate_type: kyc, individuals: [{first_name: Jane}]"
	parsed, err := config.Parse([]byte("accounts: [{applications: [{name: Of the first, " + withPerson + "}]}, " +
		"{name: second, username: u, password: p, applications: [{name: Of the second, " + withPerson + "}]}]"))
	noError(t, err)
	service, err := sandbox.Open(parsed, sandbox.Process{})
	noError(t, err)
	s := serve(t, service)
	tab := startBrowser(t)(t, s.url)
	tab.shows("#applications h3", "Of the first")
	tab.do(chromedp.Focus(chromedp.CSS("#account")), chromedp.KeyEvent("s"))
	tab.shows("#applications h3", "Of the second")
	tab.shows("#message", "The page is about the account second.")
	tab.click("Pass all: all checks of Jane")
	tab.shows(".card > .head", "in review")
	applications, err := s.Account("second").Applications(t.Context())
	noError(t, err)
	wantEqual(t, "its application", "in review", applications[0].State)
	wantEqual(t, "errors on the console", 0, len(tab.logged()))
}

func withSwitch(t *testing.T, name, value string) sandbox.Options {
	t.Helper()
	var options sandbox.Options
	noError(t, options.Dialect.Set(name, value))
	return options
}

var janeAndJoe = object{
	"name": "Acme onboarding", "reference": "acme", "mandate_type": kyc, "individuals": []object{
		{"email": "jane@example.com", "first_name": "Jane", "last_name": "Doe", "reference": "acme.jane"},
		{"email": "joe@example.com", "first_name": "Joe", "last_name": "Bloggs", "reference": "acme.joe"},
	},
}

func tryCommands(t *testing.T, s *testService, tab *tab) {
	t.Helper()
	if _, err := exec.LookPath("curl"); err != nil {
		t.Skip("no curl found; install curl")
	}
	commands := value[string](tab, `document.querySelector("#applications pre").innerText`)
	out, err := exec.CommandContext(t.Context(), "sh", "-c", commands).CombinedOutput()
	if err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	tab.shows("#applications h3", "Acme onboarding")
	tab.shows("#mailbox .who", "Jane Doe")
	wantEqual(t, "e-mails", 1, len(s.emails()))
}

func tryPerson(t *testing.T, s *testService, tab *tab) {
	t.Helper()
	path := s.create(janeAndJoe)
	tab.shows("#mailbox", s.emails()[0].InviteCode)
	tab.shows("#mailbox", "jane@example.com")
	value[any](tab, `[...document.querySelectorAll("#mailbox a")].pop().setAttribute("aria-label", "the first invite")`)
	tab.click("the first invite")
	tab.until(`document.activeElement.querySelector("h4")?.innerText === "Jane Doe"`)

	tab.click("Accept terms: Jane Doe")
	tab.shows(".steps", "✓ Terms accepted")
	tab.click("Complete actions: Jane Doe")
	tab.shows(".steps", "✓ Actions completed")
	tab.click("Pass: Identity document of Jane Doe")
	tab.shows(".check-row", "passed")
	tab.click("Fail: Liveness of Jane Doe")
	tab.shows(".check-row", "failed")
	tab.click("To review: Proof of address of Jane Doe")
	tab.shows(".check-row", "in review")
	tab.shows("#message", "The application is in progress")
	tab.click("Pass all: all checks of Joe Bloggs")
	tab.shows(".card > .head", "in review")
	tab.shows(".next", "Next: the client accepts or rejects the checks in review")

	app := s.must(http.MethodGet, path, nil)
	checks, _ := at(app, "individuals", 0, "checks").([]any)
	var states []any
	for _, check := range checks {
		states = append(states, at(check, "status", "status"))
	}
	wantEqual(t, "Jane's checks", []any{"passed", "failed", "in review"}, states)
	wantEqual(t, "Jane's actions", 3, len(at(app, "individuals", 0, "completed_actions").([]any)))

	// The page shows the actions of the client.
	s.must(http.MethodPatch, fmt.Sprintf("/check/%v/accept", at(checks[2], "id")), object{})
	tab.shows(".next", "Next: the client completes or rejects the application.")
	s.must(http.MethodPatch, path+"/complete", object{})
	s.must(http.MethodPatch, path+"/archive", object{})
	tab.shows(".card > .head", "completed")
	tab.shows(".card > .head", "archived")
	wantEqual(t, "buttons that play", 0, value[int](tab, `document.querySelectorAll("[data-act=play]").length`))
}

func tryEverybody(t *testing.T, s *testService, tab *tab) {
	t.Helper()
	path := s.create(janeAndJoe)
	tab.click("All to review: everybody of Acme onboarding")
	tab.shows(".card > .head", "in review")
	inReview := at(s.must(http.MethodGet, path, nil), "individuals", 1, "checks_in_review")
	wantEqual(t, "Joe's checks in review", "3", fmt.Sprint(inReview))
	tab.click("Fail all: everybody of Acme onboarding")
	tab.until(`document.querySelectorAll(".check-row .pill.bad").length === 6`)
}

func tryHostileNames(t *testing.T, s *testService, tab *tab) {
	t.Helper()
	const hostile = `<img src=x onerror="hacked=1"><script>hacked=1</script>"' &amp;`
	s.create(object{"name": hostile, "reference": hostile + "r", "mandate_type": kyc, "individuals": []object{
		{"email": "ann@example.com", "first_name": hostile, "reference": hostile + "i"}, {"reference": "<b>bold</b>"},
	}})
	s.must(http.MethodPost, "/ext/webhooks/subscribe", object{"url": "http://127.0.0.1:9/<script>hacked=1</script>"})
	noError(t, s.Fault(t.Context(), control.Fault{Operation: control.Token, Kind: control.Answer, RetryAfter: hostile}))
	_, err := s.Play(t.Context(), control.Play{Reference: hostile + "r", Step: control.AcceptTerms})
	noError(t, err)
	tab.shows("#deliveries-count", "1")
	for selector, want := range map[string]string{
		"#applications h3":            hostile,
		"#applications h4":            hostile,
		"#applications .card > p":     hostile + "r",
		"#mailbox .who":               hostile,
		"#mailbox strong":             hostile,
		"#applications li + li h4":    "<b>bold</b>",
		"#deliveries td:nth-child(4)": "script",
		"#faults td:nth-child(4)":     hostile,
	} {
		text := value[string](tab, fmt.Sprintf("document.querySelector(%q)?.textContent", selector))
		if !strings.Contains(text, want) {
			t.Errorf("%s shows %q, want %q", selector, text, want)
		}
	}
	injected := value[int](tab, `document.querySelectorAll("main img, main script, main b").length`)
	wantEqual(t, "elements made of names", 0, injected)
	wantEqual(t, "scripts run", "undefined", value[string](tab, "typeof hacked"))
	tab.click("Complete actions: " + hostile)
	tab.shows("#message", "The application is in progress")
}

func tryDialects(t *testing.T, s *testService, tab *tab) {
	t.Helper()
	tab.do(chromedp.Click(chromedp.CSS("#dialects-tool summary")))
	tab.do(chromedp.SendKeys(chromedp.CSS("#dialects-filter"), "method of complete"))
	tab.until(`document.querySelectorAll(".switch").length === 1`)
	tab.do(chromedp.Focus(chromedp.CSS("#dialect-completeMethod")), chromedp.KeyEvent("PO"))
	tab.shows("#dialects-count", "1 changed")
	tab.shows("#message", "completeMethod is POST.")
	wantEqual(t, "completeMethod", "POST", switchValue(t, s, "completeMethod"))

	tab.retype("dialects-filter", "readLag")
	tab.do(chromedp.WaitVisible(chromedp.CSS("#dialect-readLag")))
	tab.retype("dialect-readLag", "2000000\r")
	tab.shows("#message.error", "dialect switch readLag cannot be")
	tab.until(`document.getElementById("dialect-readLag").value === "0"`)
	tab.click("Reset all switches")
	tab.shows("#dialects-count", "0 changed")
	wantEqual(t, "completeMethod", "PATCH", switchValue(t, s, "completeMethod"))
}

func switchValue(t *testing.T, s *testService, name string) string {
	t.Helper()
	switches, err := s.Dialects(t.Context())
	noError(t, err)
	i := slices.IndexFunc(switches, func(one control.Switch) bool { return one.Name == name })
	return switches[i].Value
}

func tryFaults(t *testing.T, s *testService, tab *tab) {
	t.Helper()
	tab.do(chromedp.Click(chromedp.CSS("#faults-tool summary")))
	tab.do(
		chromedp.SendKeys(chromedp.CSS("[name=operation]"), "create"),
		chromedp.SendKeys(chromedp.CSS("[name=kind]"), "close"),
		chromedp.Click(chromedp.CSS("[name=after_work]")),
	)
	tab.click("Add fault")
	tab.shows("#faults td", "close, after carrying out the request")
	tab.shows("#faults-count", "1 pending")
	faults, err := s.Faults(t.Context())
	noError(t, err)
	want := []control.Fault{{Operation: control.CreateApplication, Kind: control.Close, AfterWork: true, Times: 1}}
	wantEqual(t, "faults", want, faults)

	if _, _, err := s.request(http.MethodPost, "/ext/applications", janeAndJoe); err == nil {
		t.Error("the create got a response")
	}
	tab.shows("#mailbox", "jane@example.com")
	tab.shows("#faults-count", "0 pending")
	tab.click("Add fault")
	tab.click("Remove all faults")
	tab.shows("#faults", "No pending faults.")
}

func tryClock(t *testing.T, s *testService, tab *tab) {
	t.Helper()
	s.create(janeAndJoe)
	tab.shows("#applications", "kept for another 56 days")
	tab.click("Advance the clock by 1 day")
	tab.shows("#applications", "kept for another 55 days")
	tab.shows("#controls", "1 day later than this machine")
	tab.click("Advance the clock by 8 weeks")
	tab.shows("#applications", "No applications yet.")
	tab.shows("#mailbox", "The application is gone.")
	tab.click("Use the time of this machine")
	tab.until(`!document.getElementById("controls").innerText.includes("later than")`)
}

func tryAutoplay(t *testing.T, s *testService, tab *tab) {
	t.Helper()
	s.create(janeAndJoe)
	tab.retype("autoplay-delay", "1\r")
	tab.shows("#message", "Autoplay takes one step every 1 ms.")
	tab.do(chromedp.Click(chromedp.CSS("#autoplay")))
	tab.shows(".card > .head", "in review")
	mode, err := s.Autoplay(t.Context())
	noError(t, err)
	wantEqual(t, "mode", control.Autoplay{Enabled: true, DelayMillis: 1}, mode)
	tab.do(chromedp.Click(chromedp.CSS("#autoplay")))
	tab.shows("#message", "Autoplay is off.")
	noError(t, s.SetAutoplay(t.Context(), control.Autoplay{Enabled: true}))
	tab.until(`document.getElementById("autoplay").checked`)
}

func tryReset(t *testing.T, s *testService, tab *tab) {
	t.Helper()
	s.create(janeAndJoe)
	tab.do(chromedp.Click(chromedp.CSS("#statistics-tool summary")))
	tab.shows("#statistics", "create_application")
	tab.click("Revoke all tokens")
	tab.shows("#message", "1 token revoked.")
	status, _, err := s.request(http.MethodGet, "/ext/references", nil)
	noError(t, err)
	wantEqual(t, "status with the token", http.StatusUnauthorized, status)
	tab.shows("#statistics", "401 × 1")
	tab.click("Reset the counts")
	tab.shows("#statistics", "No requests yet.")
	value[any](tab, "window.confirm = () => false")
	tab.click("Remove all data")
	tab.shows("#applications", "Acme onboarding")
	value[any](tab, "window.confirm = () => true")
	tab.click("Remove all data")
	tab.shows("#applications", "No applications yet.")
	tab.shows("#mailbox", "No e-mails yet.")
}

func tryKeys(t *testing.T, s *testService, tab *tab) {
	t.Helper()
	path := s.create(janeAndJoe)
	tab.shows("#applications", "Joe Bloggs")
	names := tab.tabbed()
	for _, want := range []string{
		"Skip to the applications", "Advance the clock by 1 day", "Play this individual",
		"Pass all: everybody of Acme onboarding", "Accept terms: Jane Doe", "Complete actions: Jane Doe",
		"Pass all: all checks of Joe Bloggs", "To review: Liveness of Joe Bloggs",
	} {
		if !slices.Contains(names, want) {
			t.Errorf("no Tab leads to %q, only to %q", want, names)
		}
	}
	for _, tool := range []string{"Dialects", "Faults", "Webhook deliveries", "Statistics", "Control API"} {
		if !slices.ContainsFunc(names, func(name string) bool { return strings.HasPrefix(name, tool) }) {
			t.Errorf("no Tab leads to %s", tool)
		}
	}
	value[any](tab, namedJS+`("Accept terms: Jane Doe").focus()`)
	tab.do(chromedp.KeyEvent("\r"))
	tab.shows(".steps", "✓ Terms accepted")
	wantEqual(t, "terms accepted", true, at(s.must(http.MethodGet, path, nil), "individuals", 0, "terms_accepted"))
	// The button is gone, but the focus stays with Jane.
	tab.until(`document.activeElement.closest(".person")?.innerText.includes("Jane Doe")`)
}
