package client_test

import (
	"context"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/mandate-io/idv/internal/client"
	"github.com/mandate-io/idv/internal/sandbox/control"
)

// faultCase is a fault, and what is said by it.
type faultCase struct {
	control.Fault
	// lies: it answers that all went well, and does nothing. No client can know.
	lies bool
	// refuses: it says beyond doubt that nothing was done.
	refuses bool
	// passes: a read that meets it once succeeds all the same, but for a report that has createInReview.
	passes bool
}

// faults are all that the sandbox knows, before and after its work. What a service says after its work is not a
// refusal: one that lies there cannot be told from one that does not.
func faults() map[string]faultCase {
	all := map[string]faultCase{}
	add := func(name string, f faultCase) { all[name] = f }
	for _, kind := range control.FaultKinds() {
		for _, after := range []bool{false, true} {
			fault := control.Fault{Kind: kind, AfterWork: after}
			switch kind {
			case control.Slow:
				fault.DelayMillis = 1200 // longer than the client waits, unless it e-mails people
			case control.SlowBody:
				fault.DelayMillis = 1
			case control.Answer:
				continue
			}
			replaced := !slices.Contains([]control.FaultKind{
				control.Slow, control.Close, control.ResetConnection, control.Informational,
			}, kind)
			passes := slices.Contains([]control.FaultKind{
				control.Close, control.ResetConnection, control.Truncate, control.LengthOver, control.Informational,
			}, kind)
			name := fmt.Sprintf("%s, after work=%v", kind, after)
			add(name, faultCase{Fault: fault, lies: replaced && !after, passes: passes})
			if replaced && !after {
				fault.Status = http.StatusInternalServerError
				add(name+", status 500", faultCase{Fault: fault, passes: kind != control.SlowBody})
			}
		}
	}
	for _, status := range []int{301, 408, 500, 503} {
		for _, after := range []bool{false, true} {
			fault := control.Fault{Kind: control.Answer, AfterWork: after, Status: status}
			add(fmt.Sprintf("answer %d, after work=%v", status, after), faultCase{Fault: fault, passes: status != 301})
		}
	}
	for _, status := range []int{400, 401, 403, 404, 405, 413, 422, 429} {
		fault := control.Fault{Kind: control.Answer, Status: status}
		add(fmt.Sprintf("answer %d", status), faultCase{Fault: fault, refuses: true, passes: status == 429})
	}
	longWait := control.Fault{Kind: control.Answer, Status: 429, RetryAfter: "3600"}
	add("answer 429, a long wait", faultCase{Fault: longWait, refuses: true})
	add("answer 409", faultCase{Fault: control.Fault{Kind: control.Answer, Status: 409}})
	return all
}

// knownApplication is an application, and its state as the client reads it.
type knownApplication struct {
	control.Application
	state client.State
}

// operationCase is a request, and how the sandbox's own records show whether it was carried out.
type operationCase struct {
	op   control.Operation
	do   func(context.Context, *client.Client, knownApplication) error
	done func(was, is control.Application, mails []control.Email) bool // nil: a read
}

func mailed(kind control.EmailKind) func(was, is control.Application, mails []control.Email) bool {
	return func(_, _ control.Application, mails []control.Email) bool {
		return slices.ContainsFunc(mails, func(m control.Email) bool { return m.Kind == kind })
	}
}

func inState(name string) func(was, is control.Application, mails []control.Email) bool {
	return func(_, is control.Application, _ []control.Email) bool { return is.State == name }
}

func checked(state string) func(was, is control.Application, mails []control.Email) bool {
	return func(_, is control.Application, _ []control.Email) bool {
		return is.Individuals[0].Checks[0].State == state
	}
}

func operationCases() []operationCase {
	type ctx = context.Context
	type app = knownApplication
	type seen = control.Application
	exists := func(_, is seen, _ []control.Email) bool { return is.ID != 0 }
	create := func(ctx ctx, c *client.Client, a app) error {
		return errorOf(c.CreateApplication(ctx, newApplication(a.Reference)))
	}
	return []operationCase{
		{control.Token, create, exists}, // a create that has to log in first
		{control.CreateApplication, create, exists},
		{control.DeleteApplication, func(ctx ctx, c *client.Client, a app) error {
			return errorOf(c.DeleteApplication(ctx, a.ID))
		}, func(was, is seen, _ []control.Email) bool { return was.ID != 0 && is.ID == 0 }},
		{control.ArchiveApplication, func(ctx ctx, c *client.Client, a app) error {
			return errorOf(c.ArchiveApplication(ctx, a.ID))
		}, func(_, is seen, _ []control.Email) bool { return is.Archived }},
		{control.CompleteApplication, func(ctx ctx, c *client.Client, a app) error {
			return errorOf(c.CompleteApplication(ctx, a.ID, a.state))
		}, inState("completed")},
		{control.RejectApplication, func(ctx ctx, c *client.Client, a app) error {
			return errorOf(c.RejectApplication(ctx, a.ID, a.state))
		}, inState("rejected")},
		{control.AcceptCheck, func(ctx ctx, c *client.Client, a app) error {
			return errorOf(c.AcceptCheck(ctx, a.Individuals[0].Checks[0].ID, client.CheckReview{}))
		}, checked("manually_accepted")},
		{control.RejectCheck, func(ctx ctx, c *client.Client, a app) error {
			return errorOf(c.RejectCheck(ctx, a.Individuals[0].Checks[0].ID, client.CheckReview{}))
		}, checked("manually_rejected")},
		{control.ResendInvites, func(ctx ctx, c *client.Client, a app) error {
			return errorOf(c.ResendInvites(ctx, a.Individuals[0].ID))
		}, mailed(control.Resend)},
		{control.ResetIndividual, func(ctx ctx, c *client.Client, a app) error {
			return errorOf(c.ResetIndividual(ctx, a.Individuals[0].ID))
		}, mailed(control.Reset)},
		{control.SubscribeWebhook, func(ctx ctx, c *client.Client, a app) error {
			return errorOf(c.SubscribeWebhook(ctx, client.Subscription{URL: client.Hide(hook), ApplicationID: a.ID}))
		}, nil}, // a delivery shows it: see subscribed
		{control.RetrieveApplication, func(ctx ctx, c *client.Client, a app) error {
			return errorOf(c.RetrieveApplication(ctx, a.ID))
		}, nil},
		{control.RetrieveIndividual, func(ctx ctx, c *client.Client, a app) error {
			return errorOf(c.RetrieveIndividual(ctx, a.Individuals[0].ID))
		}, nil},
		{control.IndividualReport, func(ctx ctx, c *client.Client, a app) error {
			return errorOf(c.IndividualReport(ctx, a.Individuals[0].ID, 1<<20))
		}, nil},
		{control.References, func(ctx ctx, c *client.Client, _ app) error {
			return errorOf(c.RetrieveReferences(ctx))
		}, nil},
		{control.RetrieveWebhook, func(ctx ctx, c *client.Client, a app) error {
			return errorOf(c.RetrieveWebhook(ctx, a.ID))
		}, nil},
	}
}

func newApplication(reference string) client.NewApplication {
	return client.NewApplication{
		Name: client.Hide(canary), Reference: reference, MandateTypeID: 17,
		Individuals: []client.NewIndividual{{
			Email:       client.Hide(canary + "@example.com"),
			Reference:   client.Hide(reference + ".jane"),
			DateOfBirth: client.Hide(dateOfBirth),
		}},
	}
}

// TestContractUnderFaults meets every fault with every operation, over HTTP/1.1 and HTTP/2. What must be said of
// a request is not written here: it follows from what the service did.
func TestContractUnderFaults(t *testing.T) {
	if len(operationCases()) != len(control.Operations()) {
		t.Fatalf("%d operationCases of %d operations", len(operationCases()), len(control.Operations()))
	}
	for name, fault := range faults() {
		for _, secure := range []bool{false, true} {
			t.Run(fmt.Sprintf("%s, secure=%v", name, secure), func(t *testing.T) {
				t.Parallel()
				w := newWorld(t, documented().with("retrieveWebhook=list"), secure)
				defer w.close()
				targets := make([]target, 0, len(operationCases()))
				for _, operationCase := range operationCases() {
					targets = append(targets, w.prepare(t, operationCase, fault.DelayMillis > 0))
				}
				var all sync.WaitGroup
				for _, v := range targets[1:] {
					all.Go(func() { w.injectFault(t, v, fault) })
				}
				all.Wait()
				w.injectFault(t, targets[0], fault) // not with the others: another create could not be distinguished from it
				shows(t, "the log", w.logged.all())
			})
		}
	}
}

// target is an operationCase that is about to meet a fault. Those of a world meet theirs at the same time: each has an
// application, and each fault an operation, of its own.
type target struct {
	operationCase
	client *client.Client
	was    knownApplication
	mails  int
}

func (w *world) prepare(t rapid.TB, operationCase operationCase, hurried bool) target {
	t.Helper()
	config := w.config
	if hurried {
		config.RequestTimeout = 800 * time.Millisecond
	}
	c := w.another(config)
	v := target{
		operationCase: operationCase, client: c,
		was: knownApplication{Application: control.Application{Reference: canary + "-" + string(operationCase.op)}},
	}
	if operationCase.op != control.Token {
		if _, err := c.AccessToken(w.ctx); err != nil {
			t.Fatal(err)
		}
	}
	if operationCase.op != control.CreateApplication && operationCase.op != control.Token {
		v.was.Application = w.createInReview(t, operationCase.op, v.was.Reference)
		application, err := c.RetrieveApplication(w.ctx, v.was.ID) // which also shows that the token is good
		if err != nil {
			t.Fatal(err)
		}
		v.was.state = application.State
	}
	if operationCase.op == control.CreateApplication { // as if it were not the first one
		if _, err := c.RetrieveReferences(w.ctx); err != nil {
			t.Fatal(err)
		}
	}
	v.mails = len(w.mailsOf(t, v.was.Reference))
	return v
}

func (w *world) injectFault(t *testing.T, v target, fault faultCase) {
	fault.Operation, fault.Times = v.op, control.Always
	if reads[v.op] {
		fault.Times = 1
	}
	if err := w.control.Fault(w.ctx, fault.Fault); err != nil {
		t.Errorf("%s: %v", v.op, err)
		return
	}
	counted := v.op
	if v.op == control.Token {
		counted = control.CreateApplication
	}
	requests := -w.settledRequests(t, counted)
	err := v.do(w.ctx, v.client, v.was)
	requests += w.settledRequests(t, counted)
	w.judge(t, v.operationCase, fault, err, w.did(t, v, requests))
}

// did is what the sandbox's records say of an operation.
func (w *world) did(t rapid.TB, v target, requests int64) observed {
	t.Helper()
	mails := w.mailsOf(t, v.was.Reference)[v.mails:]
	done := v.done != nil && v.done(v.was.Application, w.application(t, v.was.Reference), mails) ||
		v.op == control.SubscribeWebhook && w.subscribed(t, v.was.Application)
	return observed{done, len(mails), requests}
}

// observed is what the sandbox's records say of an operationCase.
type observed struct {
	done     bool
	mails    int
	requests int64
}

func (w *world) judge(t rapid.TB, operationCase operationCase, fault faultCase, err error, did observed) {
	t.Helper()
	read := reads[operationCase.op]
	outcome := client.OutcomeOf(err)
	most := mostRequests(operationCase.op, fault.refuses)
	switch _, typed := err.(*client.Error); { //nolint:errorlint // it must be one itself
	case err != nil && !typed:
		t.Errorf("%s: an error of type %T", operationCase.op, err)
	case err == nil && !read && !did.done && !fault.lies:
		t.Errorf("%s: said to be done, and was not", operationCase.op)
	case err != nil && did.done && (outcome.NothingDone() || outcome == client.Done):
		t.Errorf("%s: it was done, and %v is said of it: %v", operationCase.op, outcome, err)
	case outcome == client.NotSent && err != nil && did.requests > 0:
		t.Errorf("%s: NotSent, and %d requests arrived", operationCase.op, did.requests)
	case fault.refuses && !read && (err == nil || outcome == client.Unknown):
		t.Errorf("%s: the service said that it did nothing, and the client says %v", operationCase.op, err)
	case read && fault.passes && err != nil && operationCase.op != control.IndividualReport:
		t.Errorf("%s: failed by what passes: %v", operationCase.op, err)
	case did.mails > 1, !read && did.requests > most && (emailing[operationCase.op] || operationCase.op == control.Token):
		t.Errorf("%s: %d requests and %d e-mails", operationCase.op, did.requests, did.mails)
	}
	if err != nil {
		silent(t, string(operationCase.op), err)
	}
}

// createInReview makes an application whose one individual has failed all checks, so that it is in review; for a
// subscription, one to whom something can still happen.
func (w *world) createInReview(t rapid.TB, op control.Operation, reference string) control.Application {
	t.Helper()
	play := control.Play{Reference: reference, Result: control.ResultFail}
	if op == control.SubscribeWebhook {
		play.Step = control.AcceptTerms
	}
	if _, err := w.client.CreateApplication(w.ctx, newApplication(reference)); err != nil {
		t.Error(err)
	}
	application, err := w.control.Play(w.ctx, play)
	if err != nil {
		t.Error(err)
	}
	if err == nil && len(application.Individuals) == 0 {
		t.Fatal("an application without individuals")
	}
	return application
}

// settledRequests waits until the service has answered all that it was asked for, and returns how often that was.
func (w *world) settledRequests(t rapid.TB, op control.Operation) int64 {
	t.Helper()
	for ; ; <-time.After(10 * time.Millisecond) {
		statistics, err := w.control.Stats(w.ctx)
		if err != nil {
			t.Error(err)
			return 0
		}
		var answers int64
		for _, n := range statistics.Operations[op].Answers {
			answers += n
		}
		if answers == statistics.Requests(op) {
			return answers
		}
	}
}

func (w *world) application(t rapid.TB, reference string) control.Application {
	t.Helper()
	all, err := w.control.Applications(w.ctx)
	if err != nil {
		t.Error(err)
	}
	for i := range all {
		if all[i].Reference == reference {
			return all[i]
		}
	}
	return control.Application{}
}

func (w *world) mailsOf(t rapid.TB, reference string) []control.Email {
	t.Helper()
	all, err := w.control.Outbox(w.ctx)
	if err != nil {
		t.Error(err)
	}
	return slices.DeleteFunc(all, func(m control.Email) bool { return m.Reference != reference })
}

// subscribed makes something happen, and reports whether the service delivers it.
func (w *world) subscribed(t rapid.TB, application control.Application) bool {
	t.Helper()
	if _, err := w.control.Play(w.ctx, control.Play{ApplicationID: application.ID}); err != nil {
		t.Error(err)
	}
	deliveries, err := w.control.Deliveries(w.ctx)
	if err != nil {
		t.Error(err)
	}
	return slices.ContainsFunc(deliveries, func(d control.Delivery) bool {
		return d.ApplicationID == application.ID && strings.HasPrefix(d.URL, hook)
	})
}
