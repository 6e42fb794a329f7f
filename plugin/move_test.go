package plugin_test

import (
	"bytes"
	"context"
	"fmt"
	"maps"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"

	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/yaml"

	"github.com/mandate-io/idv/api/v1alpha1"
	"github.com/mandate-io/idv/internal/sandbox"
	"github.com/mandate-io/idv/internal/test/await"
	"github.com/mandate-io/idv/internal/test/testenv"
	"github.com/mandate-io/idv/internal/test/testenv/faultproxy"
	"github.com/mandate-io/idv/plugin"
)

func sortedScenes() []string { return slices.Sorted(maps.Keys(scenes)) }

// TestMove moves Mandates in all states into other namespaces, which stand for other clusters with the same account.
// The operators of all of them run. Nobody is e-mailed, and each Mandate is Ready, or its status names a command.
// MOVECOPIES is how many Mandates there are of each state.
func TestMove(t *testing.T) {
	testenv.SkipIfShort(t)
	copies, err := strconv.Atoi(os.Getenv("MOVECOPIES"))
	if err != nil {
		copies = 1
	}
	old := newWorld(t, sandbox.Options{})
	old.connect()
	old.start()
	old.stage(copies)
	file := filepath.Join(t.TempDir(), "export.yaml")
	output, said := old.separate(0, "export", "--file", file)
	old.contains(output, fmt.Sprintf("%d Mandates to ", copies*(len(scenes)-1)+1), "kubectl mandate import")
	old.contains(said, "has personal data")
	info, err := os.Stat(file)
	old.check(err)
	if info.Mode().Perm() != 0o600 {
		t.Errorf("the mode of the file is %s", info.Mode())
	}
	content, err := os.ReadFile(file)
	old.check(err)
	emails, err := old.sandbox.Outbox(t.Context())
	old.check(err)
	for name, m := range map[string]move{
		"to an empty cluster":               {},
		"without any record":                {loses: func(int) bool { return true }},
		"killed at every step":              {loses: func(i int) bool { return i%2 == 0 }, isKilled: true},
		"after Mandates from Git":           {loses: func(i int) bool { return i%10 == 0 }, inGit: "Mandate"},
		"after Mandates and service of Git": {loses: func(i int) bool { return i%3 == 0 }, inGit: "Mandate IdentityService"},
		"after a service that creates":      {loses: func(i int) bool { return i%10 == 0 }, inGit: "IdentityService"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			m.world = newWorldOf(t, old.url, old.sandbox)
			m.old, m.copies = old, copies
			m.read(string(content))
			m.start()
			m.applyGit()
			m.importAll()
			m.checkAll(v1alpha1.ReasonCreationSuspended)
			m.run("", 0, "resume", "identityservice/default", "--yes")
			m.resend(m.get("resent-0"))
			m.checkAll()
			m.emails(len(emails))
		})
	}
}

// TestAdoptFrom adopts what an export or a table names, and says which Mandates are not bound.
func TestAdoptFrom(t *testing.T) {
	testenv.SkipIfShort(t)
	w := newWorld(t, sandbox.Options{})
	w.connect()
	w.start()
	w.mandate("acme")
	w.mandate("globex")
	ids := map[string]int64{}
	for _, name := range []string{"acme", "globex"} {
		ids[name] = *w.untilReason(name, v1alpha1.ReasonAccepted).Status.ApplicationID
	}
	file := filepath.Join(t.TempDir(), "export.yaml")
	w.run("", 0, "export", "--file", file)
	w.contains(w.run("", 1, "export", "--file", file), "the file exists")
	loseRecord := func(name string) {
		w.check(w.Delete(t.Context(), &v1alpha1.Mandate{ObjectMeta: w.named(name)}))
		w.check(w.Delete(t.Context(), &v1alpha1.ApplicationRecord{ObjectMeta: w.named(name)}))
		w.mandate(name)
		w.untilReason(name, v1alpha1.ReasonReferenceConflict)
	}
	loseRecord("acme")
	w.contains(w.run("", 0, "adopt", "--from", file), "The Mandate acme is bound", "globex has the application")
	loseRecord("globex")
	loseRecord("acme")
	table := fmt.Sprintf("NAME,APPLICATION\nabsent,7\nglobex,%d\nacme,%d\n", ids["acme"], ids["acme"])
	w.contains(w.run(table, 3, "adopt", "--from", "-"), "\"absent\" not found", "globex: a person must act first",
		"The Mandate acme is bound", "2 of 3 Mandates are not bound")
	w.contains(w.run(fmt.Sprintf(`[{"name": "globex", "applicationID": %d}]`, ids["globex"]), 0, "adopt", "--from", "-"),
		"The Mandate globex is bound")
	for _, wrong := range []string{"", "acme", "acme 0", "acme 1\nacme 2", "a 1\nb x", "[7]", "../x 1"} {
		w.run(wrong, 1, "adopt", "--from", "-")
	}
	w.emails(2)
}

// TestImportRefuses writes nothing of a file that it does not understand, or that the user may not write.
func TestImportRefuses(t *testing.T) {
	w := newWorld(t, sandbox.Options{})
	mandate := fmt.Sprintf("apiVersion: %s\nkind: Mandate\nmetadata: {name: acme, namespace: %s}\n"+
		"spec: {mandateType: {code: kyc}, individuals: [{name: jane, email: %s}]}\n",
		v1alpha1.SchemeGroupVersion, w.namespace, email)
	for content, want := range map[string]string{
		mandate + "---\n" + mandate:                                            "is there twice",
		mandate + "---\n" + strings.Replace(mandate, "email", "mail", 1):       "does not know",
		mandate + "---\nkind: Secret":                                          "no service, ApplicationRecord or Mandate",
		mandate + "---\n" + email:                                              "document 2",
		mandate + "---\n" + strings.Replace(mandate, "acme", "A b", 1):         "none that Kubernetes allows",
		strings.Replace(mandate, w.namespace, "absent", 1) + "---\n" + mandate: "there is no namespace absent",
	} {
		w.contains(w.run(content, 1, "import", "--file", "-"), want)
	}
	w.user = "restorer"
	w.grant("idv-editor", false)
	w.contains(w.run(mandate, 1, "import", "--file", "-"), "you may not record applicationrecords in all namespaces",
		"you may not patch mandates/status in the namespace "+w.namespace)
	mandates := &v1alpha1.MandateList{}
	w.check(w.List(t.Context(), mandates, client.InNamespace(w.namespace)))
	if len(mandates.Items) > 0 {
		t.Errorf("%d Mandates were written", len(mandates.Items))
	}
	w.grant("idv-restorer", true)
	w.contains(w.run(mandate, 1, "import", "--file", "-"),
		"its record is lost, and so is the IdentityService default: create it, and repeat the command")
	w.connect()
	w.contains(w.run(mandate, 3, "import", "--file", "-"), "kubectl mandate status -n "+w.namespace+" acme")
	if strings.Contains(w.output.String(), email) {
		t.Errorf("personal data in the output:\n%s", w.output.String())
	}
}

// A move is one of an export into another cluster.
type move struct {
	*world
	old    *world
	copies int

	loses    func(i int) bool // whether the file lacks the record
	inGit    string           // kinds that a tool has applied before
	isKilled bool             // the import, at every step

	documents []string
}

// read takes the documents of an export in another order.
func (m *move) read(content string) {
	content = strings.ReplaceAll(content, m.old.namespace, m.namespace)
	records := 0
	for document := range strings.SplitSeq(content, "---\n") {
		isRecord := strings.Contains(document, "\nkind: ApplicationRecord\n")
		if isRecord {
			records++
		}
		if document != "" && (!isRecord || m.loses == nil || !m.loses(records-1)) {
			m.documents = append(m.documents, document)
		}
	}
	rand.Shuffle(len(m.documents), func(i, j int) {
		m.documents[i], m.documents[j] = m.documents[j], m.documents[i]
	})
}

// applyGit applies what Git has. An operator that meets a service creates for Mandates that it knows nothing of: so
// Git has none whose reference is free.
func (m *move) applyGit() {
	m.Helper()
	for _, document := range m.documents {
		object := &unstructured.Unstructured{}
		m.check(yaml.Unmarshal([]byte(document), &object.Object))
		name, _, _ := strings.Cut(object.GetName(), "-")
		isFree := scenes[name].isGone || scenes[strings.TrimRight(object.GetName(), "-0123456789")].isGone
		hasService := strings.Contains(m.inGit, "IdentityService")
		if !strings.Contains(m.inGit, object.GetKind()) || isFree && hasService {
			continue
		}
		unstructured.RemoveNestedField(object.Object, "status")
		unstructured.RemoveNestedField(object.Object, "spec", "creation")
		object.SetAnnotations(nil)
		m.check(m.Apply(m.Context(), client.ApplyConfigurationFromUnstructured(object), client.FieldOwner("git")))
	}
	if m.inGit == "Mandate IdentityService" {
		m.untilReason("accepted-0", v1alpha1.ReasonReferenceConflict)
	}
}

// importAll imports the file, with a process that ends at each of its requests if that is wanted.
func (m *move) importAll() {
	m.Helper()
	file := filepath.Join(m.TempDir(), "export.yaml")
	m.check(os.WriteFile(file, []byte(strings.Join(m.documents, "---\n")), 0o600))
	step := max(1, m.copies/2)
	for last := int32(1); ; last += int32(step) {
		ctx, kill := context.WithCancel(await.Context(m.T))
		var requests atomic.Int32
		if m.isKilled {
			m.through(func(string, string, int32) faultproxy.Fault {
				if requests.Add(1) == last {
					return faultproxy.Fault{OnRequest: kill}
				}
				return faultproxy.Fault{}
			})
		}
		out := &bytes.Buffer{}
		code := plugin.Run(ctx, plugin.Streams{In: strings.NewReader(""), Out: out, ErrOut: out}, "test",
			[]string{"import", "--file", file, "--kubeconfig", m.kubeconfig})
		isDone := ctx.Err() == nil
		kill()
		switch {
		case strings.Contains(out.String(), email):
			m.Fatalf("personal data in the output:\n%s", out)
		case isDone && (code == 3 || code == 0):
			m.Logf("after %d requests:\n%s", requests.Load(), out)
			return
		case isDone && strings.Contains(out.String(), "repeat the command in five minutes"):
		case isDone || code != 1:
			m.Fatalf("exit status %d:\n%s", code, out)
		}
	}
}

// checkAll waits until each Mandate has its application and is Ready, or until its status names a command.
func (m *move) checkAll(waits ...string) {
	m.Helper()
	m.eachScene(m.copies, func(name string, s scene) {
		before := m.old.get(name).Status
		await.Until(m, func() (bool, string) {
			now := m.get(name)
			ready := meta.FindStatusCondition(now.Status.Conditions, v1alpha1.ConditionReady)
			isStalled := meta.IsStatusConditionTrue(now.Status.Conditions, v1alpha1.ConditionStalled)
			isSettled := ready != nil && (ready.Status == "True" || isStalled || now.Spec.Suspend ||
				slices.Contains(waits, ready.Reason))
			isSame := s.outcome == "" && before.ApplicationID == nil || now.Status.Outcome == s.outcome &&
				ptr.Deref(now.Status.ApplicationID, 0) == *before.ApplicationID
			return isSettled && isSame, fmt.Sprintf("%s is %+v", name, now.Status)
		})
		if before.ApplicationID == nil {
			m.contains(m.run("", 0, "status", name), "$ kubectl ")
		}
	})
}
