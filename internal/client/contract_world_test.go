package client_test

import (
	"bytes"
	"context"
	"encoding/json"
	"encoding/pem"
	"fmt"
	"log/slog"
	"net/http/httptest"
	"strings"
	"sync"
	"time"

	"pgregory.net/rapid"

	"github.com/mandate-io/idv/internal/client"
	"github.com/mandate-io/idv/internal/sandbox"
	"github.com/mandate-io/idv/internal/sandbox/control"
)

// The personal data and the secrets of these tests, which nothing may show.
const (
	canary      = "canary7301"
	dateOfBirth = "1987-06-05"
)

// world is a sandbox, and a client of it that is configured as a user of such a service would.
type world struct {
	t       rapid.TB
	ctx     context.Context
	config  client.Config
	client  *client.Client
	control *control.Client
	chosen  reading
	close   func()
	closers []func()

	seen     known             // after the last request
	op       control.Operation // of the last request
	readable bool              // it was a read, and succeeded
	logged   logbook
}

// known is what the sandbox knows.
type known struct {
	control.Statistics
	applications []control.Application
	emails       []control.Email // oldest first
}

// logbook collects what both sides may log.
type logbook struct {
	mu   sync.Mutex
	text bytes.Buffer
}

// Write implements io.Writer.
func (l *logbook) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.text.Write(p)
}

func (l *logbook) all() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.text.String()
}

// newWorld starts one over HTTP/1.1, or over TLS, where it uses HTTP/2.
func newWorld(t rapid.TB, chosen reading, secure bool) *world {
	w := &world{t: t, chosen: chosen}
	logger := slog.New(slog.NewJSONHandler(&w.logged, nil))
	options := sandbox.Options{Username: "user", Password: canary, ClientID: "id", ClientSecret: canary, Logger: logger}
	for name, value := range chosen {
		if err := options.Dialect.Set(name, value); err != nil {
			t.Fatal(err)
		}
	}
	service := sandbox.New(options)
	controlled, served := httptest.NewServer(service), httptest.NewUnstartedServer(service)
	w.config = client.Config{
		Credentials: client.Credentials{
			Username: "user", Password: client.Hide(canary), ClientID: "id", ClientSecret: client.Hide(canary),
		},
		RequestsPerSecond: -1,
		Observe:           func(r client.RequestResult) { logger.Info("observed", "request", r) },
	}
	if secure {
		served.EnableHTTP2 = true
		served.StartTLS()
		w.config.CABundle = pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: served.Certificate().Raw})
	} else {
		served.Start()
	}
	w.config.BaseURL = served.URL
	switch { // Auto would send the client pair, and the service refuses the login
	case strings.HasPrefix(chosen["tokenBasic"], "refused"):
		w.config.TokenAuthorization = client.TokenAuthorizationNone
	case chosen["tokenBasic"] == "user_required":
		w.config.TokenAuthorization = client.TokenAuthorizationUserBasic
	}
	if chosen["grantType"] == "client_credentials" {
		w.config.GrantType = client.GrantClientCredentials
	}
	w.config.CompleteMethod = needsMethod(chosen, "completeMethod")
	w.config.RejectMethod = needsMethod(chosen, "rejectMethod")
	ctx, cancel := context.WithCancel(context.Background())
	w.ctx, w.control = ctx, control.New(controlled.URL)
	w.client = w.another(w.config)
	w.close = func() {
		for _, closeClient := range w.closers {
			closeClient()
		}
		cancel()
		service.Close()
		served.Close()
		controlled.Close()
	}
	w.look()
	return w
}

// needsMethod is the method that a user has to configure. If the service does not say in its own words that it has no
// such method, each of the two requests that the operator sends has one method. After a 404, both have the same.
func needsMethod(chosen reading, name string) client.TransitionMethod {
	method, refusal := chosen[name], chosen["wrongMethod"]
	if !chosen.problemless() || method == "PATCH" || refusal == "405" || method == "POST" && refusal != "404" {
		return client.TransitionAuto
	}
	return client.TransitionMethod(method)
}

// another makes a further client of the same service.
func (w *world) another(config client.Config) *client.Client {
	made, err := client.New(config)
	if err != nil {
		w.t.Fatal(err)
	}
	w.closers = append(w.closers, made.Close)
	return made
}

// look asks the sandbox what there is now.
func (w *world) look() {
	w.t.Helper()
	w.count()
	applications, err := w.control.Applications(w.ctx)
	if err != nil {
		w.t.Fatal(err)
	}
	emails, err := w.control.Outbox(w.ctx)
	if err != nil {
		w.t.Fatal(err)
	}
	w.seen.applications, w.seen.emails = applications, emails
}

// count is look for what changes nothing.
func (w *world) count() {
	w.t.Helper()
	statistics, err := w.control.Stats(w.ctx)
	if err != nil {
		w.t.Fatal(err)
	}
	w.seen.Statistics = statistics
}

// effect is what a request did at the service.
type effect struct {
	requests int64 // of the operation
	turned   int64 // those of them that were rejected before any work, with 401 or 429
	created  []control.Application
	emails   []control.Email
	changed  bool
}

func effectOf(op control.Operation, before, after known) effect {
	was, is := before.Operations[op], after.Operations[op]
	e := effect{requests: is.Requests - was.Requests}
	for _, status := range []string{"401", "429"} {
		e.turned += is.Answers[status] - was.Answers[status]
	}
	old := map[int64]bool{}
	for i := range before.applications {
		old[before.applications[i].ID] = true
	}
	for i := range after.applications {
		if !old[after.applications[i].ID] {
			e.created = append(e.created, after.applications[i])
		}
	}
	e.emails = after.emails[len(before.emails):]
	e.changed = len(e.emails) > 0 || digest(before) != digest(after)
	return e
}

func digest(seen known) string {
	text, err := json.Marshal(seen.applications)
	if err != nil {
		return err.Error()
	}
	return string(text)
}

// do makes a request, and holds what is promised whatever the service is like. Where the service limits requests, it is
// made again until the service has time for it, as a user would.
func (w *world) do(step string, op control.Operation, request func() error) (effect, error) {
	w.t.Helper()
	w.op = op
	if reads[op] && w.readable {
		w.expire()
	}
	for {
		before := w.seen
		err := request()
		if reads[op] {
			w.count()
		} else {
			w.look()
		}
		did := effectOf(op, before, w.seen)
		w.readable = reads[op] && err == nil
		w.promised(step, op, did, err)
		expired := client.KindOf(err) == client.KindExpiredToken && w.chosen["tokenLifetime"] != "0"
		limited := client.KindOf(err) == client.KindRateLimited && w.chosen["rateLimit"] != "0"
		if !expired && !limited || w.ctx.Err() != nil {
			return did, err
		}
		if client.RetryAfterOf(err) == 0 {
			<-time.After(50 * time.Millisecond) // the service does not say when to come back
		}
	}
}

// expire ends the tokens between two reads, if tokens end during the story. With a lifetime of a second they would end
// between a login and its first use on a busy machine, which the client holds for a user who may not use the API. What
// meets a create is in revoked.
func (w *world) expire() {
	if w.chosen["tokenLifetime"] == "0" {
		return
	}
	if _, err := w.control.RevokeTokens(w.ctx); err != nil {
		w.t.Fatal(err)
	}
}

// errorOf drops the result of an operation.
func errorOf[T any](_ T, err error) error { return err }

var reads = map[control.Operation]bool{
	control.RetrieveApplication: true, control.RetrieveIndividual: true, control.IndividualReport: true,
	control.References: true, control.RetrieveWebhook: true,
}

// emailing are the operations that may e-mail people.
var emailing = map[control.Operation]bool{
	control.CreateApplication: true, control.ResendInvites: true, control.ResetIndividual: true,
	control.ArchiveApplication: true, control.CompleteApplication: true, control.RejectApplication: true,
	control.AcceptCheck: true, control.RejectCheck: true,
}

// mostRequests is how often an operation may be let in that may e-mail people: once, unless the service says in its own
// words that it has done nothing. Then the client tries three methods, and three forms with one of them.
func mostRequests(op control.Operation, ownWords bool) int64 {
	if ownWords && (op == control.CompleteApplication || op == control.RejectApplication) {
		return 5
	}
	return 1
}

func (w *world) promised(step string, op control.Operation, did effect, err error) {
	w.t.Helper()
	if arrived := did.requests - did.turned; emailing[op] && arrived > mostRequests(op, !w.chosen.problemless()) {
		w.t.Errorf("%s: %d requests were let in", step, arrived)
	}
	if err == nil {
		return
	}
	e, ok := err.(*client.Error) //nolint:errorlint // it must be one itself
	switch {
	case !ok:
		w.t.Fatalf("%s: an error of type %T", step, err)
	case (e.Outcome.NothingDone() || e.Outcome == client.Done) && did.changed:
		w.t.Errorf("%s: %v, and yet something changed", step, e.Outcome)
	case e.Outcome == client.NotSent && did.requests > 0:
		w.t.Errorf("%s: NotSent, and %d requests arrived", step, did.requests)
	}
	silent(w.t, step, err)
}

// silent holds that an error shows neither secrets nor personal data.
func silent(t rapid.TB, step string, err error) {
	t.Helper()
	var text bytes.Buffer
	fmt.Fprintf(&text, "%v %+v %#v %s %q", err, err, err, err, err)
	asJSON, _ := json.Marshal(err)
	text.Write(asJSON)
	slog.New(slog.NewTextHandler(&text, nil)).Error("failed", "error", err)
	shows(t, step, text.String())
}

func shows(t rapid.TB, what, text string) {
	t.Helper()
	for _, secret := range []string{canary, dateOfBirth} {
		if strings.Contains(text, secret) {
			t.Errorf("%s shows %s: %.500s", what, secret, text)
		}
	}
}
