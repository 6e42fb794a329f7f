package provider_test

import (
	"fmt"
	"io"
	"log"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"path"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/hashicorp/terraform-plugin-go/tfprotov6"

	"github.com/mandate-io/idv/internal/client"
)

// What a response proves, as in the guide "Import".
const (
	present    = "present"
	absent     = "absent"
	cannotTell = "cannot tell"
	notSent    = "cannot tell, nothing is sent"
	failing    = "cannot tell, with an error"
)

// webhookAnswer is a response to retrieve webhook, of a dialect of the sandbox, or of a proxy if it has a status.
type webhookAnswer struct {
	dialects                  map[string]string
	status                    int
	contentType, body, header string
	create, refresh, imported string
	times                     int64 // 0 for all reads
}

const (
	hookURL                      = "https://hooks.example.com/idv"
	ownWebhook, otherWebhookJSON = `{"id": 7, "url": "` + hookURL + `"}`, `{"id": 8, "url": "https://other.example.com"}`
)

func html(status int) webhookAnswer {
	return webhookAnswer{status: status, contentType: "text/html", body: "<html><title>404 Not Found</title></html>"}
}

func jsonAnswer(status int, body string) webhookAnswer {
	return webhookAnswer{status: status, contentType: "application/json", body: body}
}

func dialect(dialects ...string) webhookAnswer {
	answer := webhookAnswer{dialects: map[string]string{}}
	for n := 0; n < len(dialects); n += 2 {
		answer.dialects[dialects[n]] = dialects[n+1]
	}
	return answer
}

func (a webhookAnswer) proves(create, refresh, imported string) webhookAnswer {
	a.create = create
	a.refresh, a.imported = refresh, imported
	return a
}

// webhookAnswers is what may answer instead of, or as, a service that has no webhook of the application. A proof of
// absence needs the service's own words.
var webhookAnswers = map[string]webhookAnswer{
	"object, none by 404":         dialect("retrieveWebhook", "object").proves(absent, absent, absent),
	"list, none by empty list":    dialect("retrieveWebhook", "list").proves(absent, absent, absent),
	"list, none by 404":           dialect("retrieveWebhook", "list", "noWebhooks", "404").proves(absent, absent, absent),
	"object, none by empty list":  dialect("noWebhooks", "empty_list").proves(absent, absent, absent),
	"wrapped, none by empty list": dialect("retrieveWebhook", "wrapped").proves(absent, absent, absent),
	"list in data":                dialect("retrieveWebhook", "list", "wrap", "data").proves(absent, absent, absent),
	"always 404":                  dialect("retrieveWebhook", "404").proves(absent, absent, absent),
	"404 as JSON":                 dialect("errorBody", "json").proves(absent, absent, absent),
	"404 with more members":       dialect("errorShape", "extended").proves(absent, absent, absent),
	"404 as HTML":                 dialect("errorBody", "html").proves(notSent, cannotTell, cannotTell),
	"404 as text":                 dialect("errorBody", "text").proves(notSent, cannotTell, cannotTell),
	"404 without a body":          dialect("errorBody", "empty").proves(notSent, cannotTell, cannotTell),

	"proxy: 404 in HTML":            html(404).proves(notSent, cannotTell, cannotTell),
	"proxy: 410 in HTML":            html(410).proves(notSent, cannotTell, cannotTell),
	"proxy: 404 in its own JSON":    jsonAnswer(404, `{"message":"no Route"}`).proves(notSent, cannotTell, cannotTell),
	"proxy: 404 with its own error": jsonAnswer(404, `{"status":404,"error":"x"}`).proves(notSent, cannotTell, cannotTell),
	"404 problem":                   jsonAnswer(404, `{"title":"x","status":"404"}`).proves(absent, absent, absent),
	"empty 200":                     jsonAnswer(200, ``).proves(absent, cannotTell, cannotTell),
	"204":                           jsonAnswer(204, ``).proves(absent, cannotTell, cannotTell),
	"empty object":                  jsonAnswer(200, `{}`).proves(absent, cannotTell, cannotTell),
	"null":                          jsonAnswer(200, `null`).proves(absent, cannotTell, cannotTell),
	"empty list":                    jsonAnswer(200, `[]`).proves(absent, absent, absent),
	"list without it":               jsonAnswer(200, `[`+otherWebhookJSON+`]`).proves(absent, absent, absent),
	"wrapped list without it": jsonAnswer(200, `{"webhooks":[`+otherWebhookJSON+`]}`).
		proves(absent, absent, absent),
	"list with a next page": jsonAnswer(200, `{"next":"/?page=2","results":[`+otherWebhookJSON+`]}`).
		proves(cannotTell, cannotTell, cannotTell),
	"other single webhook": jsonAnswer(200, otherWebhookJSON).proves(cannotTell, cannotTell, cannotTell),
	"a message":            jsonAnswer(200, `{"message":"none"}`).proves(cannotTell, cannotTell, cannotTell),
	"captive portal":       html(200).proves(notSent, cannotTell, cannotTell),
	"redirect": webhookAnswer{status: 302, header: "https://login.example.com"}.
		proves(notSent, cannotTell, cannotTell),
	"502": html(502).proves(notSent, failing, failing),
	"403": html(403).proves(notSent, failing, failing),

	"it alone":         jsonAnswer(200, ownWebhook).proves(present, present, present),
	"a list with it":   jsonAnswer(200, `[`+otherWebhookJSON+`,`+ownWebhook+`]`).proves(present, present, present),
	"wrapped, with it": jsonAnswer(200, `{"data":{"items":[`+ownWebhook+`]}}`).proves(present, present, present),
}

// answeringProxy is in front of a sandbox. Once it has an answer, it responds with that to retrieve webhook.
type answeringProxy struct {
	url          string
	service      *service
	answer       atomic.Pointer[webhookAnswer]
	afterPost    atomic.Bool // the answer is given only after a request to subscribe
	alive        atomic.Bool // every application exists
	posts, reads atomic.Int64
}

func newAnsweringProxy(t *testing.T) *answeringProxy {
	t.Helper()
	s := newService(t)
	s.setDialect(t, "retrieveWebhook", "list")
	return newAnsweringProxyFor(t, s)
}

func newAnsweringProxyFor(t *testing.T, s *service) *answeringProxy {
	t.Helper()
	p := &answeringProxy{service: s}
	target, err := url.Parse(p.service.url)
	if err != nil {
		t.Fatal(err)
	}
	forward := httputil.NewSingleHostReverseProxy(target)
	forward.ErrorLog = log.New(io.Discard, "", 0) // the sandbox loses responses on purpose
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if strings.Contains(r.URL.Path, "/webhooks/subscribe") {
			p.posts.Add(1)
		}
		if strings.Contains(r.URL.Path, "/webhooks/retrieve/") {
			if answer := p.answer.Load(); p.answers(answer, p.reads.Add(1)) {
				answer.write(w)
				return
			}
		}
		if p.alive.Load() && r.Method == http.MethodGet && strings.Contains(r.URL.Path, "/applications/") {
			alive := jsonAnswer(200, `{"id":`+path.Base(r.URL.Path)+`}`)
			alive.write(w)
			return
		}
		forward.ServeHTTP(w, r)
	}))
	t.Cleanup(server.Close)
	p.url = server.URL
	return p
}

// answers reports whether the proxy answers a read itself.
func (p *answeringProxy) answers(answer *webhookAnswer, read int64) bool {
	return answer != nil && answer.status != 0 && (answer.times == 0 || read <= answer.times) &&
		(p.posts.Load() > 0 || !p.afterPost.Load())
}

func (a *webhookAnswer) write(w http.ResponseWriter) {
	w.Header().Set("Content-Type", a.contentType)
	if a.header != "" {
		w.Header().Set("Location", a.header)
	}
	w.WriteHeader(a.status)
	_, _ = io.WriteString(w, a.body)
}

// breakReads gives an answer to all reads that follow a request to subscribe.
func (p *answeringProxy) breakReads(answer webhookAnswer) {
	p.afterPost.Store(true)
	p.answer.Store(&answer)
}

// environment configures the provider for the service behind the proxy.
func (p *answeringProxy) environment() []string {
	return append(p.service.environment(), "IDV_BASE_URL="+p.url)
}

// providerBlock is environment as a block.
func (p *answeringProxy) providerBlock() string {
	return strings.Replace(p.service.providerBlock(), p.service.url, p.url, 1)
}

// respond makes the service, or the proxy, give the answer from now on.
func (p *answeringProxy) respond(t *testing.T, answer webhookAnswer) {
	t.Helper()
	for name, value := range answer.dialects {
		if name != "retrieveWebhook" && answer.dialects["retrieveWebhook"] == "" {
			p.service.setDialect(t, "retrieveWebhook", "object")
		}
		p.service.setDialect(t, name, value)
	}
	p.answer.Store(&answer)
	p.reads.Store(0)
}

// TestWebhookAnswers tries each cell of the table: what a response proves for a create, a refresh and an import.
func TestWebhookAnswers(t *testing.T) {
	t.Parallel()
	for name, answer := range webhookAnswers {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			t.Run("create", answer.tryCreate)
			t.Run("create, after a plan that saw nothing", answer.tryCreateAfterPlan)
			t.Run("refresh", answer.tryRefresh)
			t.Run("import", answer.tryImport)
		})
	}
}

func (a webhookAnswer) tryCreate(t *testing.T) {
	t.Parallel()
	p := newAnsweringProxy(t)
	application := p.service.createApplication(t)
	p.respond(t, a)
	session := newSession(t, p.url)
	config := values{"url": hookURL, "application_id": application}
	planned := session.plan(t, config)
	if reads := p.reads.Load(); hasError(planned.Diagnostics) || reads != 1 && a.create != notSent {
		t.Errorf("want one read in the plan, got %d, %s", reads, formatDiagnostics(planned.Diagnostics))
	}
	applied := newSession(t, p.url).apply(t, config, planned)
	var posts int64
	switch said := formatDiagnostics(planned.Diagnostics); a.create {
	case absent:
		posts = 1
	case cannotTell:
		posts = 1
		if !hasWarning(planned.Diagnostics, "Cannot check for an existing") {
			t.Errorf("want the plan to say that it cannot check, got %s", said)
		}
	default:
		if !hasWarning(planned.Diagnostics, "An apply would fail") {
			t.Errorf("want the plan to say that the apply fails, got %s", said)
		}
	}
	block := []string{"import {", fmt.Sprintf("%d/sha256:", application)}
	if a.create == present && (!hasWarning(planned.Diagnostics, block...) || !hasError(applied.Diagnostics, block...)) {
		t.Errorf("want the import block, got %s", formatDiagnostics(applied.Diagnostics))
	}
	if wantError := posts == 0; hasError(applied.Diagnostics) != wantError {
		t.Errorf("want an error of the apply: %v, got %s", wantError, formatDiagnostics(applied.Diagnostics))
	}
	if got := p.posts.Load(); got != posts {
		t.Errorf("want %d POSTs, got %d", posts, got)
	}
}

// The apply looks again: the answer of the plan may be an old one.
func (a webhookAnswer) tryCreateAfterPlan(t *testing.T) {
	t.Parallel()
	p := newAnsweringProxy(t)
	application := p.service.createApplication(t)
	config := values{"url": hookURL, "application_id": application}
	planned := newSession(t, p.url).plan(t, config)
	if hasError(planned.Diagnostics) {
		t.Fatal(formatDiagnostics(planned.Diagnostics))
	}
	p.respond(t, a)
	applied := newSession(t, p.url).apply(t, config, planned)
	sends := a.create == absent || a.create == cannotTell
	if got := p.posts.Load(); (got == 1) != sends || hasError(applied.Diagnostics) == sends {
		t.Errorf("want a POST: %v, got %d, %s", sends, got, formatDiagnostics(applied.Diagnostics))
	}
}

func (a webhookAnswer) tryRefresh(t *testing.T) {
	t.Parallel()
	p := newAnsweringProxy(t)
	application := p.service.createApplication(t)
	subscribed := client.Subscription{URL: client.Hide(hookURL), ApplicationID: application}
	if _, err := p.service.client.SubscribeWebhook(t.Context(), subscribed); err != nil {
		t.Fatal(err)
	}
	session := newSession(t, p.url)
	state, private := session.imported(t, application, hookURL)
	if a.dialects != nil { // the service's webhooks end only with the application, which the proxy shows all the same
		p.alive.Store(true)
		if _, err := p.service.client.DeleteApplication(t.Context(), application); err != nil {
			t.Fatal(err)
		}
	}
	p.respond(t, a)
	read := newSession(t, p.url).read(t, state, private)
	removed := session.attributes(t, read.NewState) == nil
	if removed != (a.refresh == absent) || hasError(read.Diagnostics) != (a.refresh == failing) {
		t.Errorf("want %s, got removed %v, %s", a.refresh, removed, formatDiagnostics(read.Diagnostics))
	}
	switch a.refresh {
	case absent:
		if !hasWarning(read.Diagnostics, "no longer exists") || p.reads.Load() != 2 {
			t.Errorf("want a warning after two reads, got %d, %s", p.reads.Load(), formatDiagnostics(read.Diagnostics))
		}
	case cannotTell:
		readable := session.attributes(t, read.NewState)["readable"]
		if !hasWarning(read.Diagnostics, "cannot be read back") || readable != false {
			t.Errorf("want a warning and readable = false, got %v, %s", readable, formatDiagnostics(read.Diagnostics))
		}
		again := newSession(t, p.url).read(t, read.NewState, read.Private)
		if len(again.Diagnostics) > 0 {
			t.Errorf("want no warning in the next plan, got %s", formatDiagnostics(again.Diagnostics))
		}
	}
	if got := p.posts.Load(); got != 0 {
		t.Errorf("want no POST, got %d", got)
	}
}

func (a webhookAnswer) tryImport(t *testing.T) {
	t.Parallel()
	p := newAnsweringProxy(t)
	application := p.service.createApplication(t)
	p.respond(t, a)
	session := newSession(t, p.url)
	imported, err := session.server.ImportResourceState(t.Context(), &tfprotov6.ImportResourceStateRequest{
		TypeName: subscriptionType, ID: fmt.Sprintf("%d/%s", application, hookURL),
	})
	if err != nil || hasError(imported.Diagnostics) {
		t.Fatal(err, formatDiagnostics(imported.Diagnostics))
	}
	read := session.read(t, imported.ImportedResources[0].State, imported.ImportedResources[0].Private)
	removed := session.attributes(t, read.NewState) == nil
	warned := hasWarning(read.Diagnostics, "cannot be read back")
	if removed != (a.imported == absent) || hasError(read.Diagnostics) != (a.imported == failing) ||
		warned != (a.imported == cannotTell) {
		t.Errorf("want %s, got removed %v, %s", a.imported, removed, formatDiagnostics(read.Diagnostics))
	}
	if got := p.posts.Load(); got != 0 {
		t.Errorf("want no POST, got %d", got)
	}
}

// All subscriptions of an application share the two responses that prove their absence.
func TestRefreshOfManyLooksTwice(t *testing.T) {
	t.Parallel()
	p := newAnsweringProxy(t)
	application := p.service.createApplication(t)
	type readState struct {
		state   *tfprotov6.DynamicValue
		private []byte
	}
	var states []readState
	for n := range 3 {
		address := fmt.Sprintf("%s/%d", hookURL, n)
		subscribed := client.Subscription{URL: client.Hide(address), ApplicationID: application}
		if _, err := p.service.client.SubscribeWebhook(t.Context(), subscribed); err != nil {
			t.Fatal(err)
		}
		state, private := newSession(t, p.url).imported(t, application, address)
		states = append(states, readState{state, private})
	}
	p.respond(t, jsonAnswer(200, `[]`))
	session := newSession(t, p.url)
	for _, state := range states {
		read := session.read(t, state.state, state.private)
		if session.attributes(t, read.NewState) != nil {
			t.Errorf("want the subscription removed, got %s", formatDiagnostics(read.Diagnostics))
		}
	}
	if reads, posts := p.reads.Load(), p.posts.Load(); reads != 2 || posts != 0 {
		t.Errorf("want two reads and no POST, got %d and %d", reads, posts)
	}
}

// The first response may come from a proxy that restarts. The second one counts.
func TestRefreshBelievesTheSecondLook(t *testing.T) {
	t.Parallel()
	p := newAnsweringProxy(t)
	application := p.service.createSubscribedApplication(t)
	session := newSession(t, p.url)
	state, private := session.imported(t, application, hookURL)
	once := jsonAnswer(200, `[]`)
	once.times = 1
	p.respond(t, once)
	read := newSession(t, p.url).read(t, state, private)
	if session.attributes(t, read.NewState)["readable"] != true || len(read.Diagnostics) > 0 {
		t.Errorf("want the subscription to stay, got %s", formatDiagnostics(read.Diagnostics))
	}
}

// The data source is as careful: `complete` must not say that there is no webhook without a proof.
func TestWebhookDataSourceNeedsAProof(t *testing.T) {
	t.Parallel()
	for name, answer := range map[string]webhookAnswer{"404 in HTML": html(404), "204": jsonAnswer(204, "")} {
		t.Run(name, func(t *testing.T) {
			p := newAnsweringProxy(t)
			application := p.service.createApplication(t)
			p.respond(t, answer)
			webhook, diagnostics := newPlugin(t, p.url).read(t, "idv_webhook", values{"application_id": application})
			failed := hasError(diagnostics, "Cannot read the webhooks", "404")
			if failed != (answer.status == 404) || !failed && webhook["complete"] != false {
				t.Errorf("got complete %v, %s", webhook["complete"], formatDiagnostics(diagnostics))
			}
		})
	}
}
