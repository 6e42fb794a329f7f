package plugin_test

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/go-logr/logr"
	admissionregistrationv1 "k8s.io/api/admissionregistration/v1"
	appsv1 "k8s.io/api/apps/v1"
	authorizationv1 "k8s.io/api/authorization/v1"
	coordinationv1 "k8s.io/api/coordination/v1"
	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	utilruntime "k8s.io/apimachinery/pkg/util/runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/log"

	"github.com/mandate-io/idv/api/v1alpha1"
	"github.com/mandate-io/idv/internal/sandbox"
	"github.com/mandate-io/idv/internal/sandbox/control"
	"github.com/mandate-io/idv/internal/test/await"
	"github.com/mandate-io/idv/internal/test/testenv"
	"github.com/mandate-io/idv/plugin"
)

var env *testenv.Environment

func TestMain(m *testing.M) {
	log.SetLogger(logr.Discard()) // of the tests' clients
	testenv.Main(m, &env)
}

// email is personal data that no output may have.
const email = "jane.doe+review@example.com"

// A world is a namespace with a sandbox, a connection to it, and an operator.
type world struct {
	*testing.T
	client.Client

	namespace, kubeconfig, url string
	// user runs the plugin; "" is the administrator.
	user    string
	sandbox *control.Client
	// output is all that the plugin wrote.
	output strings.Builder
}

func newWorld(t *testing.T, options sandbox.Options) *world {
	t.Helper()
	url, service := testenv.Sandbox(t, options)
	return newWorldOf(t, url, service)
}

// newWorldOf is newWorld with a sandbox that others can have, too.
func newWorldOf(t *testing.T, url string, service *control.Client) *world {
	t.Helper()
	w := &world{T: t, namespace: env.Namespace(t), url: url, sandbox: service}
	w.kubeconfig = filepath.Join(t.TempDir(), "kubeconfig")
	w.check(env.WriteKubeconfig(w.kubeconfig))
	var err error
	w.Client, err = client.New(env.Config, client.Options{Scheme: newScheme()})
	w.check(err)
	w.secret("idv", map[string]string{"username": sandbox.DefaultUsername, "password": sandbox.DefaultPassword})
	return w
}

// newScheme has all kinds that the tests read and write.
func newScheme() *runtime.Scheme {
	scheme := runtime.NewScheme()
	for _, add := range []func(*runtime.Scheme) error{
		admissionregistrationv1.AddToScheme, appsv1.AddToScheme, coordinationv1.AddToScheme, corev1.AddToScheme,
		v1alpha1.AddToScheme, rbacv1.AddToScheme, authorizationv1.AddToScheme,
	} {
		utilruntime.Must(add(scheme))
	}
	return scheme
}

func (w *world) secret(name string, data map[string]string) {
	w.Helper()
	w.check(w.Create(w.Context(), &corev1.Secret{
		ObjectMeta: w.named(name), Type: "idv.mandate.io/credentials", StringData: data,
	}))
}

func (w *world) named(name string) metav1.ObjectMeta {
	return metav1.ObjectMeta{Namespace: w.namespace, Name: name}
}

func (w *world) check(err error) {
	w.Helper()
	if err != nil {
		w.Fatal(err)
	}
}

// create creates what is in no namespace, until the test ends.
func (w *world) create(object client.Object) {
	w.Helper()
	w.check(w.Create(w.Context(), object))
	w.Cleanup(func() { w.check(w.Delete(context.WithoutCancel(w.Context()), object)) })
}

// connect creates the IdentityService default.
func (w *world) connect() {
	w.Helper()
	service := &v1alpha1.IdentityService{ObjectMeta: w.named("default")}
	service.Spec.BaseURL = w.url
	service.Spec.CredentialsSecretRef.Name = "idv"
	service.Spec.RequestsPerSecond = 100
	service.Spec.Polling = v1alpha1.Polling{MinIntervalSeconds: 1, MaxIntervalSeconds: 2}
	w.check(w.Create(w.Context(), service))
}

// start starts an operator for the namespaces, of this world if none are given. It stops with the test.
func (w *world) start(namespaces ...string) {
	w.Helper()
	if len(namespaces) == 0 {
		namespaces = []string{w.namespace}
	}
	process := w.startOperator(namespaces...)
	w.Cleanup(func() {
		if err := process.Stop(); err != nil {
			w.Error(err)
		}
	})
}

func (w *world) startOperator(namespaces ...string) *testenv.Process {
	w.Helper()
	binary, err := env.Build("./cmd/mandate-operator")
	w.check(err)
	command := exec.CommandContext(context.WithoutCancel(w.Context()), binary,
		"--watch-namespaces="+strings.Join(namespaces, ","), "--settle-delay=3s", "--rule-delay=5s",
		"--health-probe-bind-address=0", "--metrics-bind-address=0")
	command.Env = append(os.Environ(), "KUBECONFIG="+w.kubeconfig, "GORACE=atexit_sleep_ms=0")
	process, err := env.Start("operator-"+w.namespace, command)
	w.check(err)
	return process
}

func (w *world) mandate(name string) {
	w.Helper()
	w.mandateAt(name, "default")
}

func (w *world) mandateAt(name, service string) {
	w.Helper()
	m := &v1alpha1.Mandate{ObjectMeta: w.named(name)}
	m.Spec.MandateType.Code = "kyc"
	m.Spec.ServiceRef = v1alpha1.IdentityServiceReference{Kind: v1alpha1.ServiceKindIdentityService, Name: service}
	m.Spec.Individuals = []v1alpha1.Individual{{Name: "jane", Email: email}}
	w.check(w.Create(w.Context(), m))
}

// run runs the plugin with a text as its standard input, and checks the exit status.
func (w *world) run(input string, want int, arguments ...string) string {
	w.Helper()
	return w.runIn(await.Context(w.T), input, want, arguments...)
}

// runIn is run until a context ends.
func (w *world) runIn(ctx context.Context, input string, want int, arguments ...string) string {
	w.Helper()
	out := &bytes.Buffer{}
	w.stream(ctx, plugin.Streams{In: strings.NewReader(input), Out: out, ErrOut: out}, want, arguments)
	return out.String()
}

// separate is run without a standard input, and with what is on the standard output and on the standard error.
func (w *world) separate(want int, arguments ...string) (output, said string) {
	w.Helper()
	out, errOut := &bytes.Buffer{}, &bytes.Buffer{}
	w.stream(await.Context(w.T), plugin.Streams{In: strings.NewReader(""), Out: out, ErrOut: errOut}, want, arguments)
	return out.String(), errOut.String()
}

func (w *world) stream(ctx context.Context, streams plugin.Streams, want int, arguments []string) {
	w.Helper()
	arguments = append(slices.Clone(arguments), "--kubeconfig", w.kubeconfig, "--namespace", w.namespace)
	limited := strings.Contains(strings.Join(arguments, " "), "--timeout=")
	waits := []string{"wait", "refresh", "reconcile", "adopt", "decide", "review", "resend", "reset", "report"}
	if slices.Contains(waits, arguments[0]) && !limited {
		arguments = append(arguments, "--timeout=0")
	}
	if w.user != "" {
		arguments = append(arguments, "--as", w.user)
	}
	code := plugin.Run(ctx, streams, "test", arguments)
	fmt.Fprint(&w.output, streams.Out, streams.ErrOut)
	if code != want {
		w.Fatalf("kubectl mandate %v: exit status %d, want %d\n%s%s", arguments, code, want, streams.Out, streams.ErrOut)
	}
}

func (w *world) contains(output string, texts ...string) {
	w.Helper()
	for _, text := range texts {
		if !strings.Contains(output, text) {
			w.Errorf("no %q in:\n%s", text, output)
		}
	}
}

func (w *world) emails(want int) {
	w.Helper()
	emails, err := w.sandbox.Outbox(w.Context())
	w.check(err)
	if len(emails) != want {
		w.Fatalf("%d e-mails, want %d", len(emails), want)
	}
}

// TestFlow is the work of a person with the role idv-editor with one Mandate, from the manifest to the outcome, with a
// real operator.
func TestFlow(t *testing.T) {
	testenv.SkipIfShort(t)
	w := newWorld(t, sandbox.Options{})
	w.mandate("acme")
	w.user = "editor"
	w.grant("idv-editor", false)
	w.contains(w.run("", 0, "status", "acme"), "not seen by the operator yet", "kubectl get pods -A")
	w.contains(w.run("", 4, "refresh", "acme", "--timeout=3s"), "Check that it runs")
	w.start()
	w.connect()
	w.contains(w.run("", 0, "wait", "acme"), "Ready=True, Accepted")
	w.emails(1)
	w.contains(w.run("", 0, "status", "acme"), "Individual jane", "IdentityService default  Ready=True, Connected",
		"What to do next", "jane: 3 checks to do")

	w.contains(w.run("", 0, "reconcile", "acme"), "Ready=True")
	w.contains(w.run("", 0, "refresh", "--identityservice", "default"), "Ready=True, Connected")

	w.contains(w.run("", 5, "resend", "acme", "jane"), "without a terminal it cannot ask")
	w.emails(1)
	w.contains(w.run("", 0, "resend", "acme", "jane", "--yes"), "Complete, CarriedOut")
	w.emails(2)
	w.contains(w.run("", 1, "reset", "acme", "john", "--yes"), "it has jane")
	w.contains(w.run("", 0, "reset", "acme", "jane", "--yes"), "Complete, CarriedOut")
	w.emails(3)

	w.contains(w.run("", 5, "decide", "acme", "Complete"), "0/3 checks passed; jane: 3 checks not decided")
	w.contains(w.run("", 3, "adopt", "acme", "1"), "which cannot change")
	_, err := w.sandbox.Play(w.Context(), control.Play{Reference: w.namespace + ".acme", Result: control.ResultPass})
	w.check(err)
	file := filepath.Join(t.TempDir(), "jane.pdf")
	w.contains(w.run("", 1, "report", "acme", "jane", "--file", file),
		"the report is in the Secret acme-report-", "ask for a Role that can get them",
		"kubectl get secret -n "+w.namespace+" acme-report-")
	w.grant("secrets", false)
	w.contains(w.run("", 0, "report", "acme", "jane", "--file", file), "application/pdf", "Now delete")
	info, err := os.Stat(file)
	w.check(err)
	if content, _ := os.ReadFile(file); info.Mode().Perm() != 0o600 || !bytes.HasPrefix(content, []byte("%PDF")) {
		t.Errorf("mode %s, %.20q", info.Mode(), content)
	}
	w.contains(w.run("", 1, "report", "acme", "jane", "--file", file), "the file exists")

	w.reviews("acme", "jane")
	w.contains(w.run("", 0, "decide", "acme", "complete", "--yes"), "wait -n "+w.namespace+" acme --for=outcome")
	w.contains(w.run("", 0, "wait", "acme", "--for=outcome=Completed"), "outcome Completed")
	w.contains(w.run("", 3, "wait", "acme", "--for=outcome=Rejected"), "its outcome is Completed")
	w.contains(w.run("", 3, "decide", "acme", "Reject", "--yes"), "has the outcome Completed already")
	w.contains(w.run("", 0, "status"), "acme", "Have an outcome: 1")
	history := strings.Split(strings.TrimSpace(w.run("", 0, "history", "acme")), "\n")
	for i, want := range []string{
		`BEGUN +CALL +FOR +RESULT +REQUESTS +REQUESTED BY`, `Create +- +Done +1 +- `,
		`ResendInvite +jane +Done +1 +editor .* acme-resend-`, `ResetIndividual +jane +Done +1 +editor `,
		`RejectCheck +jane check \d+ +Done +1 +editor +[0-9a-f]{8}`, `Complete +- +Done +1 +editor +[0-9a-f]{8}-\d+`,
	} {
		if !regexp.MustCompile(want).MatchString(history[i]) {
			t.Errorf("line %d of the history is %q, want %s", i, history[i], want)
		}
	}
	w.contains(w.run("", 0, "history", "acme", "-o", "json"), `"requestedBy": "editor"`)
	w.contains(w.run("", 1, "history", "nobody"), `"nobody" not found`)
	w.emails(3)
	if strings.Contains(w.output.String(), email) || strings.Contains(w.output.String(), sandbox.DefaultPassword) {
		t.Errorf("personal data or a password in the output:\n%s", w.output.String())
	}
	w.managedBy("acme", "mandate-plugin")
}

// reviews rejects the first check of an individual, and waits until the service has the review.
func (w *world) reviews(name, individual string) {
	w.Helper()
	w.run("", 0, "refresh", name)
	check, _ := w.separate(0, "status", name, "-o", "jsonpath={.individuals[0].checks[0].name}")
	out := w.run("", 0, "review", name, individual, check, "Reject", "--comment", "Cut off.", "--yes")
	w.contains(out, check+"  passed, evidence ", "Reject the check "+check+" of "+individual+" on evidence ")
	await.Until(w, func() (bool, string) {
		m := &v1alpha1.Mandate{}
		w.check(w.Get(w.Context(), client.ObjectKey{Namespace: w.namespace, Name: name}, m))
		return len(m.Status.Reviews) == 1, "the review is not carried out"
	})
}

func (w *world) managedBy(name, manager string) {
	w.Helper()
	m := &v1alpha1.Mandate{}
	w.check(w.Get(w.Context(), client.ObjectKey{Namespace: w.namespace, Name: name}, m))
	for _, entry := range m.ManagedFields {
		if entry.Manager == manager {
			return
		}
	}
	w.Errorf("%s manages no field of %s", manager, name)
}

// TestAdopt binds an application whose id was lost.
func TestAdopt(t *testing.T) {
	testenv.SkipIfShort(t)
	w := newWorld(t, sandbox.Options{})
	w.check(w.sandbox.Fault(t.Context(), control.Fault{
		Operation: control.CreateApplication, Kind: control.ResetConnection, AfterWork: true, Times: 1,
	}))
	w.start()
	w.connect()
	w.mandate("acme")
	w.contains(w.run("", 3, "wait", "acme"), "a person must act first (OutcomeUnknown)")
	w.contains(w.run("", 0, "status", "acme"), "kubectl mandate adopt -n "+w.namespace+" acme APPLICATION_ID")
	w.contains(w.run("", 0, "status"), "!   acme", "Next: kubectl mandate status")
	w.contains(w.run("", 3, "adopt", "acme", "1"), "AdoptionRefused")
	w.contains(w.run("", 3, "adopt", "acme", "1"), "is 1 already. Nothing was changed.", "AdoptionRefused")
	applications, err := w.sandbox.Applications(t.Context())
	w.check(err)
	w.contains(w.run("", 0, "adopt", "acme", strconv.FormatInt(applications[0].ID, 10)), "The Mandate acme is bound")
	w.emails(1)
}

// TestSettle has the operator create again what was not created.
func TestSettle(t *testing.T) {
	testenv.SkipIfShort(t)
	w := newWorld(t, sandbox.Options{})
	w.check(w.sandbox.Fault(t.Context(), control.Fault{
		Operation: control.CreateApplication, Kind: control.ResetConnection, Times: 3,
	}))
	w.start()
	w.connect()
	w.mandate("acme")
	w.contains(w.run("", 3, "wait", "acme"), "a person must act first (OutcomeUnknown)")
	w.contains(w.run("", 0, "status", "acme"), "kubectl mandate settle -n "+w.namespace+" acme --not-created")
	w.contains(w.run("", 1, "settle", "acme"), "say what became of the create: --not-created")
	w.contains(w.run("", 5, "settle", "acme", "--not-created"), "its individuals are e-mailed twice", "Add --yes")
	w.contains(w.run("", 0, "settle", "acme", "--not-created", "--yes"), "Recorded that nothing was created")
	w.run("", 0, "wait", "acme")
	w.emails(1)
	w.contains(w.run("", 3, "settle", "acme", "--not-created", "--yes"), "it has its application; nothing was changed")
}

// TestCompletion completes the names of what there is.
func TestCompletion(t *testing.T) {
	w := newWorld(t, sandbox.Options{})
	w.mandate("acme")
	w.contains(w.complete("status", ""), "acme\n")
	w.contains(w.complete("resend", "acme", ""), "jane\n")
	w.contains(w.complete("explain", "Outc"), "OutcomeUnknown\n")
	w.contains(w.complete("decide", "acme", ""), "Complete\nReject\n")
	w.contains(w.complete("decide", "acme", "Complete", "--when", ""), "AllChecksPassed\n")
	w.contains(w.complete("wait", "acme", "--for", ""), "outcome=Completed\n")
	w.contains(w.run("", 0, "__complete", "status", "--namespace", ""), w.namespace)
}

// complete runs a completion. The flags come first: what follows the last word is completed.
func (w *world) complete(words ...string) string {
	w.Helper()
	out := &bytes.Buffer{}
	arguments := append([]string{"__complete"}, words[0], "--kubeconfig", w.kubeconfig, "--namespace", w.namespace)
	streams := plugin.Streams{In: strings.NewReader(""), Out: out, ErrOut: out}
	plugin.Run(w.Context(), streams, "test", append(arguments, words[1:]...))
	return out.String()
}

// TestTimeout ends a wait for what does not come.
func TestTimeout(t *testing.T) {
	w := newWorld(t, sandbox.Options{})
	w.mandate("acme")
	w.contains(w.run("", 4, "wait", "acme", "--timeout=3s"), "the timeout passed: the Mandate acme is not seen")
	w.contains(w.run("", 1, "status", "nobody"), `"nobody" not found`)
}
