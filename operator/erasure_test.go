package operator_test

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/mandate-io/idv/api/v1alpha1"
	"github.com/mandate-io/idv/internal/sandbox/control"
	"github.com/mandate-io/idv/internal/test/await"
)

const twoPeople = `individuals: [
	{name: jane, email: erased-canary@example.com, lastName: erased-canary, dateOfBirth: "1909-03-11",
	 reference: canary-1},
	{name: john, detailsSecretRef: {name: john}, lastName: erased-canary}]`

// createMandate creates a Mandate, as a program does that does not apply it.
func (w *world) createMandate(name, spec string) {
	w.Helper()
	w.check(w.Create(w.Context(), w.parse(mandateManifest(name, spec))))
}

// eraseByDefault sets the default of the service.
func (w *world) eraseByDefault() {
	w.Helper()
	w.kubectl("patch", "identityservice", "default", "--type=merge",
		"-p", `{"spec":{"retention":{"afterOutcome":"Erase"}}}`)
}

func hasProblems(m *v1alpha1.Mandate) bool { return len(m.Status.Problems) > 0 }

// edit patches the spec of a Mandate.
func (w *world) edit(name, spec string) error {
	w.Helper()
	m := &v1alpha1.Mandate{}
	m.Namespace, m.Name = w.namespace, name
	return w.Patch(w.Context(), m, client.RawPatch(types.MergePatchType, []byte(`{"spec":`+spec+`}`)))
}

// reject has the individuals of a Mandate fail, and rejects it.
func (w *world) reject(name string) {
	w.Helper()
	w.play(w.ready(name), control.ResultFail)
	w.decide(name, v1alpha1.DecisionReject)
}

// erased waits until the details of the individuals of a Mandate are erased, and the Mandate is Ready with that.
func (w *world) erased(name string) *v1alpha1.Mandate {
	w.Helper()
	w.until(name, "erased", func(m *v1alpha1.Mandate) bool {
		kept := func(i v1alpha1.Individual) bool { return i.HasInline() || !i.Erased }
		return !slices.ContainsFunc(m.Spec.Individuals, kept)
	})
	return w.ready(name)
}

// After the outcome, the operator removes inline personal data, in one write: from the object, and so from etcd.
func TestErasedAfterOutcome(t *testing.T) {
	t.Parallel()
	w := running(t)
	w.secret("john", map[string]string{"email": "john@example.com"})
	w.createMandate("acme", "{retention: {afterOutcome: Erase}, "+twoPeople+"}")
	w.eventually(func() (bool, string) {
		found, err := env.EtcdHolds("erased-canary")
		w.check(err)
		return found, "etcd does not have what was not erased yet"
	})
	w.reject("acme")
	m := w.erased("acme")
	if m.Generation != 3 || len(m.Status.Problems) > 0 || m.Status.Outcome != v1alpha1.OutcomeRejected {
		t.Errorf("generation %d after the decision and the erasure, want 3; status %+v", m.Generation, m.Status)
	}
	if secret := m.Spec.Individuals[1].DetailsSecretRef; secret == nil || secret.Name != "john" {
		t.Errorf("the name of the Secret is gone: %+v", m.Spec.Individuals[1])
	}
	w.check(env.CompactEtcd(t.Context(), w.get("acme").ResourceVersion))
	w.check(env.DefragmentEtcd(t.Context()))
	for _, canary := range []string{"erased-canary", "1909-03-11"} {
		if found, err := env.EtcdHolds(canary); found || err != nil {
			t.Errorf("etcd has %q after the compaction, error %v", canary, err)
		}
	}
	for what, edit := range map[string]string{
		"another person": `{"individuals":[{"name":"jane","email":"joe@example.com"},{"name":"john","erased":true,` +
			`"detailsSecretRef":{"name":"john"}}]}`,
		"another Secret": `{"individuals":[{"name":"jane","erased":true},{"name":"john","erased":true,` +
			`"detailsSecretRef":{"name":"joe"}}]}`,
		"another name": `{"individuals":[{"name":"jane","erased":true},{"name":"joe","erased":true}]}`,
		"not erased": `{"individuals":[{"name":"jane","erased":true},
			{"name":"john","detailsSecretRef":{"name":"john"}}]}`,
		"a person fewer": `{"individuals":[{"name":"jane","erased":true}]}`,
	} {
		if err := w.edit("acme", edit); !apierrors.IsInvalid(err) {
			t.Errorf("%s: error %v, want a refusal", what, err)
		}
	}
	w.emails(2)
}

// An admission policy denies the erasure. The status says so, and the data is erased once the policy is gone.
func TestErasureRefused(t *testing.T) {
	t.Parallel()
	w := running(t)
	w.mandate("a", "{}") // the policy is tried on it
	allow := w.deny("mandates", `object.metadata.name != "a" && object.spec.individuals.all(i, !has(i.erased))`)
	w.createMandate("acme", "{retention: {afterOutcome: Erase}, individuals: [{name: jane, email: jane@example.com}]}")
	w.reject("acme")
	w.cannot("acme", "spec.individuals", v1alpha1.ReasonRetrying, "erase inline personal data in the Mandate")
	allow()
	requests := 0
	w.eventually(func() (bool, string) { // the API server may apply the policy for a moment longer
		requests++
		w.request("mandate/acme", fmt.Sprint("the policy is gone ", requests))
		m := w.get("acme")
		return m.Spec.Individuals[0].Erased && !hasProblems(m), "it is not erased"
	})
}

// What another field manager applies stays, and the status says so, until it is erased there. A Mandate that was erased
// is bound to its application again, and never creates one.
func TestErasedDataInGit(t *testing.T) {
	t.Parallel()
	w := running(t)
	w.mandate("acme", "{}")
	w.eraseByDefault()
	w.ready("acme") // without an application, an individual can be erased at any time
	if err := w.edit("acme", `{"individuals":[{"name":"jane","erased":true}]}`); !apierrors.IsInvalid(err) {
		t.Fatalf("erased before the outcome: error %v, want a refusal", err)
	}
	w.reject("acme")
	m := w.until("acme", "said to have data in Git", hasProblems)
	p := m.Status.Problems[0]
	if p.Reason != v1alpha1.ProblemErasedDataInGit || p.Field != "spec.individuals[jane]" ||
		!strings.HasPrefix(p.Message, "test applies") || m.Spec.Individuals[0].Email == "" {
		t.Errorf("the problem is %+v, the spec %+v", p, m.Spec)
	}
	const erased = "{individuals: [{name: jane, erased: true}]}"
	w.mandate("acme", erased)
	m = w.erased("acme")
	w.until("acme", "without problems", func(m *v1alpha1.Mandate) bool { return len(m.Status.Problems) == 0 })

	w.kubectl("delete", "mandate", "acme")
	w.mandate("acme", erased)
	if again := w.ready("acme"); *again.Status.ApplicationID != *m.Status.ApplicationID {
		t.Errorf("applied again, it has application %d, want %d", *again.Status.ApplicationID, *m.Status.ApplicationID)
	}
	w.kubectl("delete", "mandate", "acme")
	w.mandate("acme", "{individuals: [{name: jane, email: canary@example.com}]}")
	w.stalled("acme", v1alpha1.ReasonSpecDiffers)
	w.mandate("other", erased)
	w.stalled("other", v1alpha1.ReasonErased)
	w.emails(1)
	w.checkCreates(1)
}

// What kubectl apply, or Argo CD, has applied counts as well. The default of the service applies to Mandates that have
// their outcome already.
func TestErasedDataInAnnotation(t *testing.T) {
	t.Parallel()
	w := running(t)
	content, err := w.parse(mandateManifest("applied", "{}")).MarshalJSON()
	w.check(err)
	manifest := filepath.Join(t.TempDir(), "mandate.json")
	w.check(os.WriteFile(manifest, content, 0o600))
	w.kubectl("apply", "-f", manifest)
	w.createMandate("created", `{individuals: [{name: jane, email: joe@example.com}]}`)
	w.reject("applied")
	w.reject("created")
	for _, name := range []string{"applied", "created"} {
		w.until(name, "rejected", func(m *v1alpha1.Mandate) bool { return m.Status.Outcome != "" })
	}
	w.eraseByDefault()
	w.erased("created")
	m := w.until("applied", "said to have data in Git", hasProblems)
	if !strings.HasPrefix(m.Status.Problems[0].Message, "kubectl apply") {
		t.Errorf("the problems are %+v", m.Status.Problems)
	}
}

// Once the application exists, nobody needs the Secrets any more, also after a restart.
func TestSecretGoneAfterCreation(t *testing.T) {
	t.Parallel()
	w := running(t)
	for _, name := range []string{"jane", "john"} {
		w.secret(name, map[string]string{"email": name + "@example.com"})
	}
	w.mandate("acme",
		"{individuals: [{name: jane, detailsSecretRef: {name: jane}}, {name: john, detailsSecretRef: {name: john}}]}")
	m := w.ready("acme")
	w.kubectl("delete", "secret", "jane", "john", await.Timeout(t))
	w.check(w.operator.Stop())
	w.start()
	w.complete(m)
	w.until("acme", "completed", func(m *v1alpha1.Mandate) bool { return m.Status.Outcome == v1alpha1.OutcomeCompleted })
	if m := w.ready("acme"); len(m.Status.Problems) > 0 {
		t.Errorf("the status says %+v", m.Status.Problems)
	}
	w.emails(2)
}
