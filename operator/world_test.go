package operator_test

import (
	"context"
	"flag"
	"fmt"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/go-logr/logr"
	admissionv1 "k8s.io/api/admissionregistration/v1"
	corev1 "k8s.io/api/core/v1"
	eventsv1 "k8s.io/api/events/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	utilruntime "k8s.io/apimachinery/pkg/util/runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/log"
	"sigs.k8s.io/yaml"

	"github.com/mandate-io/idv/api/v1alpha1"
	"github.com/mandate-io/idv/internal/sandbox"
	"github.com/mandate-io/idv/internal/sandbox/control"
	"github.com/mandate-io/idv/internal/test/await"
	"github.com/mandate-io/idv/internal/test/testenv"
	"github.com/mandate-io/idv/operator"
)

var (
	env     *testenv.Environment
	granted sync.Once
)

func TestMain(m *testing.M) {
	log.SetLogger(logr.Discard()) // of the tests' clients; the operators log to files
	// The tests wait more than they work. The flag of go test has the last word.
	if err := flag.Set("test.parallel", "4"); err != nil {
		panic(err)
	}
	testenv.Main(suite{m}, &env)
}

// slowdown is how much slower the machine is than without other work, when the tests begin.
var slowdown = await.Slowdown()

// settleDelay is longer than the sandbox takes for any request.
var settleDelay = await.Stretch(3*time.Second, slowdown).Round(time.Second / 10)

// settlesSlowly leaves half of its time for an attempt. That is enough however busy the machine is: no request is
// withdrawn, which would count as well.
const settlesSlowly = "--settle-delay=1m"

// ruleDelay is for how long a rule has to hold: three polls or so.
const ruleDelay = 5 * time.Second

// world is a namespace with a sandbox, an IdentityService for it, and an operator process of its own.
type world struct {
	*testing.T
	client.Client
	env        *testenv.Environment
	namespace  string
	url        string // of the sandbox
	sandbox    *control.Client
	kubeconfig string
	// operatorConfig is the operator's kubeconfig, with the permissions of config/rbac and config/reports only.
	operatorConfig string
	operator       *testenv.Process
	environment    []string // of the operator, beside that of the test
}

// scheme has the operator's kinds, and those that the tests read besides.
func scheme() *runtime.Scheme {
	s := operator.Scheme()
	utilruntime.Must(eventsv1.AddToScheme(s))
	utilruntime.Must(rbacv1.AddToScheme(s))
	utilruntime.Must(admissionv1.AddToScheme(s))
	return s
}

// newWorld starts a sandbox and creates a namespace. Nothing is applied, and no operator runs yet.
func newWorld(t *testing.T, options sandbox.Options) *world {
	t.Helper()
	granted.Do(func() {
		if err := env.GrantOperatorRole(t.Context()); err != nil {
			t.Fatal(err)
		}
	})
	return newWorldIn(t, env, options)
}

// newWorldIn is newWorld in another control plane, which has the operator's role.
func newWorldIn(t *testing.T, env *testenv.Environment, options sandbox.Options) *world {
	t.Helper()
	w := &world{T: t, env: env, namespace: env.Namespace(t)}
	w.url, w.sandbox = testenv.Sandbox(t, options)
	w.kubeconfig, w.operatorConfig = filepath.Join(t.TempDir(), "kubeconfig"), filepath.Join(t.TempDir(), "kubeconfig")
	w.check(env.WriteKubeconfig(w.kubeconfig))
	w.check(env.WriteOperatorKubeconfig(t.Context(), w.operatorConfig))
	var err error
	w.Client, err = client.New(env.Config, client.Options{Scheme: scheme()})
	w.check(err)
	return w
}

// running is a world with a connection and an operator, both ready.
func running(t *testing.T) *world {
	t.Helper()
	w := newWorld(t, sandbox.Options{})
	w.connect()
	w.start()
	w.serviceReady(metav1.ConditionTrue, v1alpha1.ReasonConnected)
	return w
}

func (w *world) check(err error) {
	w.Helper()
	if err != nil {
		w.Fatal(err)
	}
}

// start starts the operator, or restarts it.
func (w *world) start(flags ...string) {
	w.Helper()
	testenv.SkipIfShort(w.T)
	binary, err := env.Build("./cmd/mandate-operator")
	w.check(err)
	// The test's context ends too early: Stop has to be able to end the operator with a signal.
	command := exec.CommandContext(context.WithoutCancel(w.Context()), binary, append([]string{
		"--watch-namespaces=" + w.namespace,
		"--settle-delay=" + settleDelay.String(), "--rule-delay=" + ruleDelay.String(),
		"--health-probe-bind-address=0", "--metrics-secure=false",
		"--zap-log-level=10",
	}, flags...)...)
	command.Env = append(os.Environ(), "KUBECONFIG="+w.operatorConfig, "GORACE=atexit_sleep_ms=0")
	command.Env = append(command.Env, w.environment...)
	w.operator, err = w.env.Start(w.namespace, command)
	w.check(err)
	operator := w.operator
	w.Cleanup(func() {
		if err := operator.Stop(); err != nil {
			w.Error(err)
		}
		if w.Failed() {
			w.Logf("the operator's log:\n%s", logTail(operator.Log))
		}
	})
}

// logTail is the end of a log, without the verbose messages of libraries.
func logTail(log string) string {
	content, err := os.ReadFile(log)
	if err != nil {
		return err.Error()
	}
	var lines []string
	for line := range strings.Lines(string(content)) {
		if !strings.Contains(line, `"level":"Level(`) {
			lines = append(lines, line)
		}
	}
	return strings.Join(lines[max(0, len(lines)-60):], "")
}

func (w *world) kill() {
	w.Helper()
	w.check(w.operator.Kill())
}

// connect applies the IdentityService "default" and its Secret.
func (w *world) connect() {
	w.Helper()
	w.credentials()
	w.apply(fmt.Sprintf(`
kind: IdentityService
metadata: {name: default}
spec:
  baseURL: %s
  credentialsSecretRef: {name: idv}
  requestsPerSecond: 100
  polling: {minIntervalSeconds: 1, maxIntervalSeconds: 2}
`, w.url))
}

// newService applies an IdentityService with further fields of its spec.
func (w *world) newService(name, spec string) {
	w.Helper()
	w.apply(fmt.Sprintf("{kind: IdentityService, metadata: {name: %s}, spec: {credentialsSecretRef: {name: idv}, %s}}",
		name, spec))
}

// credentials stores the correct credentials in the Secret of the IdentityService.
func (w *world) credentials() {
	w.Helper()
	w.secret("idv", map[string]string{"username": sandbox.DefaultUsername, "password": sandbox.DefaultPassword})
}

func (w *world) secret(name string, data map[string]string) {
	w.Helper()
	secret := &corev1.Secret{ObjectMeta: metav1.ObjectMeta{Namespace: w.namespace, Name: name}, StringData: data}
	secret.Labels = map[string]string{v1alpha1.SecretUseLabel: "credentials.notifications.individual"}
	if err := w.Create(w.Context(), secret); err != nil {
		w.check(w.Update(w.Context(), secret))
	}
}

// apply creates or patches an object of our API, as kubectl apply --server-side does.
func (w *world) apply(manifest string) {
	w.Helper()
	object := w.parse(manifest)
	configuration := client.ApplyConfigurationFromUnstructured(object)
	w.check(w.Apply(w.Context(), configuration, client.FieldOwner("test"), client.ForceOwnership))
}

func (w *world) parse(manifest string) *unstructured.Unstructured {
	w.Helper()
	object := &unstructured.Unstructured{}
	w.check(yaml.Unmarshal([]byte(manifest), &object.Object))
	object.SetAPIVersion(v1alpha1.SchemeGroupVersion.String())
	object.SetNamespace(w.namespace)
	return object
}

// mandate applies a Mandate with one individual, and further fields of its spec.
func (w *world) mandate(name, spec string) {
	w.Helper()
	w.apply(mandateManifest(name, spec))
}

func mandateManifest(name, spec string) string {
	var extra map[string]any
	if err := yaml.Unmarshal([]byte(spec), &extra); err != nil {
		panic(err)
	}
	merged := map[string]any{
		"mandateType": map[string]any{"code": "kyc"},
		"individuals": []any{map[string]any{"name": "jane", "email": "jane@example.com"}},
	}
	maps.Copy(merged, extra)
	out, err := yaml.Marshal(map[string]any{"kind": "Mandate", "metadata": map[string]any{"name": name}, "spec": merged})
	if err != nil {
		panic(err)
	}
	return string(out)
}

// until waits until done, and returns the Mandate.
func (w *world) until(name, what string, done func(*v1alpha1.Mandate) bool) *v1alpha1.Mandate {
	w.Helper()
	m := &v1alpha1.Mandate{}
	w.eventually(func() (bool, string) {
		if err := w.Get(w.Context(), client.ObjectKey{Namespace: w.namespace, Name: name}, m); err != nil {
			return false, err.Error()
		}
		status, _ := yaml.Marshal(m.Status)
		return done(m), fmt.Sprintf("the Mandate %s is not %s:\n%s", name, what, status)
	})
	return m
}

// condition waits until a Mandate has a condition with status and reason for its current generation.
func (w *world) condition(name, conditionType string, status metav1.ConditionStatus, reason string) *v1alpha1.Mandate {
	w.Helper()
	what := fmt.Sprintf("%s=%s with reason %s", conditionType, status, reason)
	return w.until(name, what, func(m *v1alpha1.Mandate) bool {
		c := meta.FindStatusCondition(m.Status.Conditions, conditionType)
		return c != nil && c.Status == status && c.Reason == reason && c.ObservedGeneration == m.Generation
	})
}

func (w *world) ready(name string) *v1alpha1.Mandate {
	w.Helper()
	return w.condition(name, v1alpha1.ConditionReady, metav1.ConditionTrue, v1alpha1.ReasonAccepted)
}

// stalled waits until a Mandate is Stalled with a reason.
func (w *world) stalled(name, reason string) *v1alpha1.Mandate {
	w.Helper()
	w.condition(name, v1alpha1.ConditionReady, metav1.ConditionFalse, reason)
	return w.condition(name, v1alpha1.ConditionStalled, metav1.ConditionTrue, reason)
}

func (w *world) serviceReady(status metav1.ConditionStatus, reason string) {
	w.Helper()
	w.serviceIs("default", status, reason)
}

// serviceIs waits until Ready of an IdentityService has a status and a reason. An empty reason matches any.
func (w *world) serviceIs(name string, status metav1.ConditionStatus, reason string) {
	w.Helper()
	s := &v1alpha1.IdentityService{}
	w.eventually(func() (bool, string) {
		if err := w.Get(w.Context(), client.ObjectKey{Namespace: w.namespace, Name: name}, s); err != nil {
			return false, err.Error()
		}
		c := meta.FindStatusCondition(s.Status.Conditions, v1alpha1.ConditionReady)
		return c != nil && c.Status == status && (reason == "" || c.Reason == reason) && c.ObservedGeneration == s.Generation,
			fmt.Sprintf("the IdentityService %s is not Ready=%s with reason %s: %+v", name, status, reason, s.Status)
	})
}

// eventually waits until done, which otherwise describes what is missing.
func (w *world) eventually(done func() (bool, string)) {
	w.Helper()
	await.Until(w.T, done)
}

// emails returns the e-mails sent so far, and checks their number.
func (w *world) emails(want int) []control.Email {
	w.Helper()
	emails, err := w.sandbox.Outbox(w.Context())
	w.check(err)
	if len(emails) != want {
		w.Fatalf("%d e-mails were sent, want %d: %+v", len(emails), want, emails)
	}
	return emails
}

func (w *world) requests(operation control.Operation) int64 {
	w.Helper()
	stats, err := w.sandbox.Stats(w.Context())
	w.check(err)
	return stats.Requests(operation)
}

// waitPolls waits until the operator has read applications n more times.
func (w *world) waitPolls(n int64) {
	w.Helper()
	want := w.requests(control.RetrieveApplication) + n
	w.eventually(func() (bool, string) {
		return w.requests(control.RetrieveApplication) >= want, "the application is not polled"
	})
}

// checkApplications checks the number of applications at the service.
func (w *world) checkApplications(want int) {
	w.Helper()
	applications, err := w.sandbox.Applications(w.Context())
	w.check(err)
	if len(applications) != want {
		w.Errorf("%d applications, want %d", len(applications), want)
	}
}

// alwaysAnswers makes every request of an operation fail with a status.
func alwaysAnswers(operation control.Operation, status int) control.Fault {
	return control.Fault{Operation: operation, Kind: control.Answer, Status: status, Times: control.Always}
}

// slowed delays the next request of an operation.
func slowed(operation control.Operation, delay time.Duration) control.Fault {
	return control.Fault{Operation: operation, Kind: control.Slow, DelayMillis: delay.Milliseconds()}
}

// fault injects a fault, which has to occur: a test whose fault does not occur shows nothing.
func (w *world) fault(f control.Fault) {
	w.Helper()
	w.check(w.sandbox.Fault(w.Context(), f))
	if f.Times == control.Always {
		return
	}
	w.Cleanup(func() {
		left, err := w.sandbox.Faults(context.Background())
		if err == nil && !w.Failed() && slices.Contains(left, f) {
			w.Errorf("the fault never occurred: %+v", f)
		}
	})
}

// play finishes the checks of all individuals of an application with a result.
func (w *world) play(m *v1alpha1.Mandate, result control.Result) {
	w.Helper()
	_, err := w.sandbox.Play(w.Context(), control.Play{ApplicationID: *m.Status.ApplicationID, Result: result})
	w.check(err)
}

// kubectl runs kubectl in the namespace, and returns its output.
func (w *world) kubectl(arguments ...string) string {
	w.Helper()
	connect := []string{"--kubeconfig", w.kubeconfig, "--namespace", w.namespace}
	command := exec.CommandContext(await.Context(w.T), w.env.Kubectl, append(connect, arguments...)...)
	output, err := command.CombinedOutput()
	if err != nil {
		w.Fatalf("kubectl %v: %v\n%s", arguments, err, output)
	}
	return string(output)
}
