package client_test

import (
	"maps"
	"slices"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/mandate-io/idv/internal/client"
	"github.com/mandate-io/idv/internal/sandbox/control"
	"github.com/mandate-io/idv/internal/sandbox/dialect"
)

// said is what the client has to say of an operation.
type said struct {
	outcomes []client.Outcome
	kinds    []client.Kind // none: any
}

var (
	isUnknown   = &said{outcomes: []client.Outcome{client.Unknown}}
	isUnproven  = &said{[]client.Outcome{client.Unknown}, []client.Kind{client.KindUnproven, client.KindMethodNotAllowed}}
	isDenied    = &said{[]client.Outcome{client.Refused}, unproven}
	isForbidden = &said{[]client.Outcome{client.Forbidden}, forbidden}
)

// expectedOf is what the client has to say of an operation at an unreliable service; nil: see judge.
func (r reading) expectedOf(op control.Operation) *said {
	change, isRead := dialect.IsChange(op), reads[op]
	provable := op == control.DeleteApplication || isRead // a bare 4xx is a refusal
	routed := r["ingress404"] == "none" || r["ingress404"] == "changes" && !change ||
		r["ingress404"] == "applications" && !strings.Contains(string(op), "application")
	switch {
	case op == control.Token:
		return nil
	case r["trailingSlash"] != "not_used":
		return isUnknown
	case !routed && provable:
		return isDenied
	case !routed:
		return isUnproven
	case r.forbids(op) && (r["forbiddenAnswer"] == "problem" || provable):
		return isForbidden
	case r.forbids(op):
		return isUnproven
	case op == control.CreateApplication && r["createRefusal"] == "403":
		return isForbidden
	case op == control.CreateApplication && r["createRefusal"] != "none":
		return &said{outcomes: []client.Outcome{client.Refused}}
	case change && r["changeAnswer"] != "documented", isRead && r["readAnswer"] != "documented":
		return isUnknown
	}
	return nil
}

func (r reading) forbids(op control.Operation) bool {
	decisions := []control.Operation{
		control.CompleteApplication, control.RejectApplication, control.AcceptCheck, control.RejectCheck,
	}
	switch r["forbiddenOperation"] {
	case "changes":
		return dialect.IsChange(op)
	case "decisions":
		return slices.Contains(decisions, op)
	default:
		return r["forbiddenOperation"] == string(op)
	}
}

// lies reports whether the service says that it did what it did not do, or not yet.
func (r reading) lies() bool { return r["changeWork"] != "done" || r["asyncWork"] != "at_once" }

// TestContractOfUnreliableServices meets every operation with services whose answers say little of what they did:
// pages, proxies, permissions, work that is done later or never. What must be said of a request follows from what the
// service did, and for each switch alone from expectedOf.
func TestContractOfUnreliableServices(t *testing.T) {
	run := func(chosen reading) {
		t.Run(chosen.String(), func(t *testing.T) {
			t.Parallel()
			w := newWorld(t, documented().with("retrieveWebhook=list"), false)
			defer w.close()
			w.meet(t, chosen, true)
		})
	}
	for _, name := range unreliable {
		for _, value := range switchValues(t, name)[1:] {
			switch name {
			case "asyncOperations", "asyncDelay":
				run(documented().with("asyncWork=delayed", name+"="+value))
			case "ingressBody":
				run(documented().with("ingress404=all", name+"="+value))
			case "forbiddenStatus", "forbiddenAnswer":
				for _, status := range switchValues(t, "forbiddenStatus") {
					run(documented().with("forbiddenOperation=changes", name+"="+value, "forbiddenStatus="+status))
				}
			default:
				run(documented().with(name + "=" + value))
			}
		}
	}
}

// TestContractOfUnreliableServicesCombined is the same with all switches set by chance. Then only what the service did
// says what must be said.
func TestContractOfUnreliableServicesCombined(t *testing.T) {
	choices := map[string][]string{}
	for _, name := range unreliable {
		choices[name] = switchValues(t, name)
	}
	rapid.Check(t, func(t *rapid.T) {
		body := rapid.SampledFrom([]string{"problem", "html", "empty"}).Draw(t, "errorBody")
		chosen := documented().with("errorBody=" + body)
		for _, name := range slices.Sorted(maps.Keys(choices)) {
			if rapid.Bool().Draw(t, "set "+name) {
				chosen[name] = rapid.SampledFrom(choices[name]).Draw(t, name)
			}
		}
		w := newWorld(t, documented().with("retrieveWebhook=list"), rapid.Bool().Draw(t, "secure"))
		defer w.close()
		w.meet(t, chosen, false)
	})
}

func switchValues(t *testing.T, name string) []string {
	t.Helper()
	for _, s := range (dialect.Dialect{}).Switches() {
		if s.Name == name {
			return values(t, s)
		}
	}
	t.Fatalf("there is no switch %s", name)
	return nil
}

// meet prepares an application for each operation, and has the operations meet a service with another reading.
func (w *world) meet(t rapid.TB, chosen reading, alone bool) {
	t.Helper()
	targets := make([]target, 0, len(operationCases()))
	for _, operationCase := range operationCases()[1:] { // a login has no permissions, proxies and answers of its own here
		targets = append(targets, w.prepare(t, operationCase, false))
	}
	switches := map[string]string{}
	for name, value := range chosen {
		if usual := documented(); usual[name] != value {
			switches[name] = value
		}
	}
	if err := w.control.SetDialects(w.ctx, switches); err != nil {
		t.Fatal(err)
	}
	for _, v := range targets {
		requests := -w.settledRequests(t, v.op)
		err := v.do(w.ctx, v.client, v.was)
		requests += w.settledRequests(t, v.op)
		did := w.did(t, v, requests)
		w.judge(t, v.operationCase, faultCase{lies: chosen.lies()}, err, did)
		expected := chosen.expectedOf(v.op)
		if !alone || expected == nil {
			continue
		}
		if err == nil || !slices.Contains(expected.outcomes, client.OutcomeOf(err)) ||
			len(expected.kinds) > 0 && !slices.Contains(expected.kinds, client.KindOf(err)) {
			t.Errorf("%s: %v %s (%v), want %v", v.op, client.OutcomeOf(err), client.KindOf(err), err, *expected)
		}
		if client.IsNotFound(err) && v.op != control.CreateApplication {
			t.Errorf("%s: nobody who knows says that it does not exist: %v", v.op, err)
		}
	}
	w.later(t, chosen, targets)
	shows(t, "the log", w.logged.all())
}

// later holds that work after a 202 is done once, if it is done.
func (w *world) later(t rapid.TB, chosen reading, targets []target) {
	t.Helper()
	if chosen["asyncWork"] != "delayed" {
		return
	}
	if _, err := w.control.Advance(w.ctx, time.Hour); err != nil {
		t.Fatal(err)
	}
	for _, v := range targets {
		if mails := w.did(t, v, 0).mails; mails > 1 {
			t.Errorf("%s: %d e-mails", v.op, mails)
		}
	}
}
