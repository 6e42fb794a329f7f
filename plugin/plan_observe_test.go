package plugin_test

import (
	"fmt"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/api/meta"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/mandate-io/idv/api/v1alpha1"
	"github.com/mandate-io/idv/internal/client/wire"
	"github.com/mandate-io/idv/internal/sandbox/control"
)

// observation is what was sent.
type observation struct {
	calls  []string
	emails int
}

func (p *pair) observe() *observation {
	seen := &observation{}
	records := &v1alpha1.ApplicationRecordList{}
	p.must(p.List(p.Context(), records, client.InNamespace(p.namespace)))
	for i := range records.Items {
		for _, call := range records.Items[i].Spec.Calls {
			if call.Result == v1alpha1.CallDone {
				seen.calls = append(seen.calls, callName(records.Items[i].Name, string(call.Kind), call.Individual))
			}
		}
	}
	emails, err := p.sandbox.Outbox(p.Context())
	p.must(err)
	for i := range emails {
		if strings.HasPrefix(emails[i].Reference, p.namespace+".") {
			seen.emails++
		}
	}
	slices.Sort(seen.calls)
	return seen
}

func callName(mandate, kind, individual string) string {
	return strings.TrimRight(mandate+" "+kind+" "+individual, " ")
}

// since is what was sent after another observation.
func (o *observation) since(before *observation) *observation {
	later := &observation{emails: o.emails - before.emails}
	had := map[string]int{}
	for _, call := range before.calls {
		had[call]++
	}
	for _, call := range o.calls {
		had[call]--
		if had[call] < 0 {
			later.calls = append(later.calls, call)
		}
	}
	return later
}

// expectedCalls are the calls of a plan.
func (p *pair) expectedCalls(predicted *prediction) (calls []string) {
	for _, item := range predicted.Items {
		mandate := item.Name
		if m := p.manifests[item.Kind+"/"+item.Name]; m != nil && item.Kind == "MandateAction" {
			mandate = m.spec["mandateRef"].(map[string]any)["name"].(string)
		}
		for _, call := range item.Calls {
			calls = append(calls, callName(mandate, call.Kind, call.Individual))
		}
	}
	slices.Sort(calls)
	return calls
}

// mayFollow reports whether a plan says that it does not know the application that a call was about.
func (p *pair) mayFollow(call string, predicted *prediction) bool {
	for _, item := range predicted.Items {
		about := strings.HasPrefix(call, item.Name+" ")
		if about && strings.Contains(strings.Join(item.Unknown, " "), "no status shows it") {
			return true
		}
	}
	return false
}

func (p *pair) mandateOf(name string) *v1alpha1.Mandate {
	m := &v1alpha1.Mandate{}
	p.must(p.Get(p.Context(), client.ObjectKey{Namespace: p.namespace, Name: name}, m))
	return m
}

// stored are the Mandates and MandateActions of the cluster.
func (p *pair) stored() (objects []client.Object) {
	mandates, actions := &v1alpha1.MandateList{}, &v1alpha1.MandateActionList{}
	p.must(p.List(p.Context(), mandates, client.InNamespace(p.namespace)))
	p.must(p.List(p.Context(), actions, client.InNamespace(p.namespace)))
	for i := range mandates.Items {
		objects = append(objects, &mandates.Items[i])
	}
	for i := range actions.Items {
		objects = append(objects, &actions.Items[i])
	}
	return objects
}

// notSettled is a Mandate that the operator is not done with; "" if there is none.
func (p *pair) notSettled() string {
	for _, object := range p.stored() {
		m, ok := object.(*v1alpha1.Mandate)
		if !ok {
			continue
		}
		ready := meta.FindStatusCondition(m.Status.Conditions, v1alpha1.ConditionReady)
		pending := ready == nil || m.Status.ObservedGeneration != m.Generation ||
			ready.Reason == v1alpha1.ReasonIdentityServiceNotReady || ready.Reason == v1alpha1.ReasonRetrying ||
			m.Status.ApplicationID != nil && m.Status.Progress == "" && !m.Spec.Suspend
		if pending {
			return m.Name + " is not settled"
		}
	}
	return ""
}

// refresh waits until the statuses show what the service shows.
func (p *pair) refresh() {
	applications, err := p.sandbox.Applications(p.Context())
	p.must(err)
	shown := map[int64]control.Application{}
	for i := range applications {
		shown[applications[i].ID] = applications[i]
	}
	p.until(func() string {
		for _, object := range p.stored() {
			m, ok := object.(*v1alpha1.Mandate)
			if !ok || m.Status.ApplicationID == nil || m.Spec.Suspend || m.Status.Outcome != "" || isUnmatched(m) {
				continue
			}
			if is, want := summaryOfStatus(m), summaryOfApplication(shown[*m.Status.ApplicationID]); is != want {
				return fmt.Sprintf("%s shows %q, and the service %q", m.Name, is, want)
			}
		}
		return p.notSettled()
	})
}

// isUnmatched is for two individuals of a service that shows neither references nor addresses.
func isUnmatched(m *v1alpha1.Mandate) bool {
	ready := meta.FindStatusCondition(m.Status.Conditions, v1alpha1.ConditionReady)
	return ready != nil && ready.Reason == v1alpha1.ReasonIndividualsUnmatched
}

func summaryOfStatus(m *v1alpha1.Mandate) string {
	states := []string{wire.FoldName(m.Status.State)}
	for i := range m.Status.Individuals {
		for _, check := range m.Status.Individuals[i].Checks {
			if check.State != nil {
				states = append(states, wire.FoldName(check.State.Name))
			}
		}
	}
	slices.Sort(states[1:])
	return strings.Join(states, " ")
}

func summaryOfApplication(a control.Application) string {
	states := []string{wire.FoldName(a.State)}
	for i := range a.Individuals {
		for _, check := range a.Individuals[i].Checks {
			states = append(states, wire.FoldName(check.State))
		}
	}
	slices.Sort(states[1:])
	return strings.Join(states, " ")
}
