package plugin_test

import (
	"fmt"
	"maps"
	"slices"
	"strconv"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/mandate-io/idv/api/v1alpha1"
	"github.com/mandate-io/idv/internal/sandbox/control"
)

// manifest is an object of the repository.
type manifest struct {
	kind, name string
	spec       map[string]any
}

func (m *manifest) key() string { return m.kind + "/" + m.name }

func (m *manifest) object(namespace string) map[string]any {
	return map[string]any{
		"apiVersion": v1alpha1.SchemeGroupVersion.String(), "kind": m.kind,
		"metadata": map[string]any{"name": m.name, "namespace": namespace}, "spec": m.spec,
	}
}

func (m *manifest) clone() *manifest {
	copied := *m
	copied.spec = runtime.DeepCopyJSON(m.spec)
	return &copied
}

func sortedNames(manifests map[string]*manifest) []string {
	return slices.Sorted(maps.Keys(manifests))
}

func kindName(object client.Object) string {
	switch object.(type) {
	case *v1alpha1.Mandate:
		return "Mandate/" + object.GetName()
	default:
		return "MandateAction/" + object.GetName()
	}
}

// apply applies a manifest as GitOps tools do.
func (p *pair) apply(m *manifest) error {
	object := &unstructured.Unstructured{Object: runtime.DeepCopyJSON(m.object(p.namespace))}
	return p.Apply(p.Context(), client.ApplyConfigurationFromUnstructured(object), client.FieldOwner("gitops"),
		client.ForceOwnership)
}

func (p *pair) put(m *manifest) *manifest {
	p.manifests[m.key()] = m
	return m
}

// newMandate is a Mandate of new people.
func (p *pair) newMandate(name string) *manifest {
	var individuals []any
	for i := range 1 + p.random.IntN(2) {
		p.people++
		individual := map[string]any{
			"name": "person-" + strconv.Itoa(i), "email": fmt.Sprintf("person%d@%s.example.com", p.people, p.namespace),
		}
		if p.oneIn(6) {
			individual["reference"] = fmt.Sprintf("%s-person-%d", p.namespace, p.people)
		}
		individuals = append(individuals, individual)
	}
	codes := []string{"kyc", "identity", "address"}
	m := &manifest{"Mandate", name, map[string]any{
		"mandateType": map[string]any{"code": codes[p.random.IntN(3)]}, "individuals": individuals,
	}}
	switch p.random.IntN(14) {
	case 0:
		m.spec["suppressEmailNotification"] = true
	case 1, 2:
		m.spec["deletionPolicy"] = "Archive"
	case 3, 4:
		m.spec["deletionPolicy"] = "Delete"
	case 5:
		m.spec["createBefore"] = "2020-01-01T00:00:00Z"
	case 6:
		m.spec["createBefore"] = "2120-01-01T00:00:00Z"
	case 7:
		m.spec["suspend"] = true
	case 8:
		m.spec["archived"] = true
	}
	return m
}

// setUp makes a cluster: Mandates in all states, with what was sent for them before.
func (p *pair) setUp() {
	p.setCreation(fmt.Sprintf(`{"maxPerHour":%d}`, lotsOfOne))
	for i := range 2 + p.random.IntN(3) {
		m := p.put(p.newMandate("mandate-" + strconv.Itoa(i)))
		p.must(p.apply(m))
	}
	p.until(func() string {
		for _, object := range p.stored() {
			if m, ok := object.(*v1alpha1.Mandate); ok && m.Spec.Archived != m.Status.Archived {
				return m.Name + " is not archived"
			}
		}
		return p.notSettled()
	})
	for _, key := range sortedNames(p.manifests) {
		p.playTo(p.manifests[key])
	}
	p.refresh()
	for _, key := range sortedNames(p.manifests) {
		m := p.mandateOf(p.manifests[key].name)
		if m.Status.ApplicationID == nil || m.Status.Archived || isUnmatched(m) {
			continue
		}
		switch p.random.IntN(5) {
		case 0:
			p.decideNow(p.manifests[key], m)
		case 1:
			p.actNow(m)
		}
	}
	p.refresh()
}

// playTo has the individuals of a Mandate act.
func (p *pair) playTo(of *manifest) {
	m := p.mandateOf(of.name)
	if m.Status.ApplicationID == nil {
		return
	}
	plays := []*control.Play{
		nil, {Step: control.AcceptTerms}, {Result: control.ResultPass}, {Result: control.ResultPass},
		{Result: control.ResultReview}, {Result: control.ResultFail},
	}
	play := plays[p.random.IntN(len(plays))]
	if play == nil {
		return
	}
	play.ApplicationID = *m.Status.ApplicationID
	_, err := p.sandbox.Play(p.Context(), *play)
	p.must(err)
	p.describe("%s: played %s %s", of.name, play.Step, play.Result)
}

// decideNow decides about an application in review, and waits for the outcome.
func (p *pair) decideNow(of *manifest, m *v1alpha1.Mandate) {
	if m.Status.State != "in review" {
		return
	}
	of.spec["decision"] = map[string]any{"outcome": "Reject", "evidence": m.Status.Evidence}
	p.must(p.apply(of))
	p.describe("%s: rejected", of.name)
	p.until(func() string {
		if p.mandateOf(of.name).Status.Outcome == "" {
			return of.name + " has no outcome"
		}
		return ""
	})
}

// actNow has an action carried out.
func (p *pair) actNow(m *v1alpha1.Mandate) {
	action := p.put(p.newAction("before-"+m.Name, m.Name, m.Spec.Individuals[0].Name))
	p.must(p.apply(action))
	p.describe("%s: %s", m.Name, action.spec["type"])
	p.until(func() string {
		a := &v1alpha1.MandateAction{}
		p.must(p.Get(p.Context(), client.ObjectKey{Namespace: p.namespace, Name: action.name}, a))
		if a.Status.CompletedTime == nil {
			return action.name + " is not complete"
		}
		return ""
	})
}

func (p *pair) newAction(name, mandate, individual string) *manifest {
	kind := "ResendInvite"
	if p.oneIn(2) {
		kind = "ResetIndividual"
	}
	return &manifest{"MandateAction", name, map[string]any{
		"mandateRef": map[string]any{"name": mandate}, "type": kind, "individual": individual,
	}}
}

// pullBrake suspends what e-mails people.
func (p *pair) pullBrake() {
	p.setCreation(`{"suspend":true}`)
	p.describe("the service is suspended")
}

// change changes the repository.
func (p *pair) change() {
	switch p.random.IntN(8) {
	case 0:
		p.pullBrake()
	case 1, 2:
		p.limitCreation()
	}
	for _, key := range sortedNames(p.manifests) {
		if m := p.manifests[key]; m.kind == "Mandate" {
			p.changeMandate(m)
		} else if p.oneIn(3) {
			p.changeAction(m)
		}
	}
	for i := range p.random.IntN(3) {
		m := p.put(p.newMandate("new-" + strconv.Itoa(i)))
		if p.oneIn(5) {
			m.spec["reference"] = p.namespace + ".mandate-0"
		}
		if p.oneIn(8) {
			m.spec["mandateType"] = map[string]any{"code": "none-such"}
		}
		if p.oneIn(6) {
			m.spec["decision"] = map[string]any{"outcome": "Complete", "when": "AllChecksPassed"}
		}
		p.describe("new: %s %v", m.name, withoutPeople(m.spec))
	}
	if p.oneIn(2) {
		name := []string{"mandate-0", "mandate-1", "new-0"}[p.random.IntN(3)]
		action := p.put(p.newAction("after-"+name, name, []string{"person-0", "person-0", "nobody"}[p.random.IntN(3)]))
		p.describe("new: %s %v", action.name, action.spec)
	}
}

func withoutPeople(spec map[string]any) map[string]any {
	rest := maps.Clone(spec)
	delete(rest, "individuals")
	return rest
}

// changeAction deletes an action and applies another one of its name.
func (p *pair) changeAction(m *manifest) {
	changed := m.clone()
	if p.oneIn(2) {
		changed.spec["individual"] = "person-1"
	}
	p.must(p.Delete(p.Context(), &v1alpha1.MandateAction{ObjectMeta: p.named(m.name)}))
	p.put(changed)
	p.describe("%s: deleted, and again %v", m.name, changed.spec)
}

// changeMandate makes one of the changes that people make.
func (p *pair) changeMandate(was *manifest) {
	live := p.mandateOf(was.name)
	m := p.put(was.clone())
	kind := p.random.IntN(16)
	bound, inReview := live.Status.ApplicationID != nil, live.Status.State == "in review"
	switch {
	case kind == 0:
		p.rename(m)
	case kind == 1:
		delete(p.manifests, m.key())
		p.describe("%s: pruned, with %v", m.name, m.spec["deletionPolicy"])
	case kind == 2:
		m.spec["archived"] = true
	case kind == 3:
		m.spec["deletionPolicy"] = []string{"Retain", "Archive", "Delete"}[p.random.IntN(3)]
	case kind == 4:
		delete(m.spec, "createBefore")
	case kind == 5:
		m.spec["suspend"] = m.spec["suspend"] != true
	case kind == 6:
		m.spec["individuals"] = p.newMandate("other").spec["individuals"]
	case kind == 7 && m.spec["decision"] == nil && live.Spec.DeletionPolicy == v1alpha1.DeletionPolicyRetain:
		p.restore(m)
	case kind <= 10 && bound && inReview && !live.Spec.Archived:
		m.spec["decision"] = p.decision(live)
	case kind <= 12 && bound && !live.Spec.Archived:
		p.addReview(m, live)
	case kind == 13 && bound && p.rules:
		m.spec["decision"] = map[string]any{"outcome": "Complete", "when": "AllChecksPassed"}
		p.ruled = true
	case kind == 14:
		m.spec["decision"] = map[string]any{"outcome": "Reject", "evidence": "deadbeef-1"}
	}
	p.describe("%s: change %d, now %v; in review %t, outcome %s", m.name, kind, withoutPeople(m.spec), inReview,
		live.Status.Outcome)
}

func (p *pair) rename(m *manifest) {
	delete(p.manifests, m.key())
	renamed := m.clone()
	renamed.name = "renamed-" + m.name
	p.put(renamed)
	p.describe("%s: renamed to %s", m.name, renamed.name)
}

// restore deletes a Mandate that is applied again with the change, as after a loss of the cluster's objects.
func (p *pair) restore(m *manifest) {
	p.must(p.Delete(p.Context(), &v1alpha1.Mandate{ObjectMeta: p.named(m.name)}))
	p.describe("%s: deleted, and restored", m.name)
}

// decision is one about the evidence of now.
func (p *pair) decision(live *v1alpha1.Mandate) map[string]any {
	outcome := "Complete"
	if p.oneIn(3) {
		outcome = "Reject"
	}
	return map[string]any{"outcome": outcome, "evidence": live.Status.Evidence}
}

// addReview adds the review of a check, and a decision in the same commit.
func (p *pair) addReview(m *manifest, live *v1alpha1.Mandate) {
	if len(live.Status.Individuals) == 0 || len(live.Status.Individuals[0].Checks) == 0 {
		return
	}
	check := live.Status.Individuals[0].Checks[0]
	evidence := check.Evidence
	if p.oneIn(4) || evidence == "" {
		evidence = "deadbeef"
	}
	decision := []string{"Accept", "Reject"}[p.random.IntN(2)]
	m.spec["checkReviews"] = []any{map[string]any{
		"individual": live.Status.Individuals[0].Name, "check": check.Name, "evidence": evidence, "decision": decision,
	}}
	if p.oneIn(2) && live.Status.State == "in review" {
		m.spec["decision"] = map[string]any{"outcome": "Reject", "evidence": live.Status.Evidence}
	}
}
