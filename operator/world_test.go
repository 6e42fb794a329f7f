package operator_test

import (
	"context"
	"fmt"
	"log/slog"
	"maps"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/go-logr/logr"
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
	"github.com/mandate-io/idv/internal/testenv"
	"github.com/mandate-io/idv/operator"
)

var (
	env     *testenv.Environment
	granted sync.Once
)

func TestMain(m *testing.M) {
	log.SetLogger(logr.Discard()) // of the clients here; the operators log into files
	testenv.Main(suite{m}, &env)
}

// settleDelay of the operators here. It has to be longer than the sandbox takes for any request.
const settleDelay = 3 * time.Second

// timeout is how long a test waits for what should come within seconds.
const timeout = 60 * time.Second

// world is a namespace with a sandbox, an IdentityService that connects to it, and an operator process of its own.
type world struct {
	*testing.T
	client.Client
	env        *testenv.Environment
	namespace  string
	url        string // of the sandbox
	sandbox    *control.Client
	kubeconfig string
	// operatorConfig is what the operator gets: it runs with the rights of config/rbac and no more.
	operatorConfig string
	operator       *testenv.Process
}

// scheme knows what the operator knows, and the events that it makes.
func scheme() *runtime.Scheme {
	s := operator.Scheme()
	utilruntime.Must(eventsv1.AddToScheme(s))
	utilruntime.Must(rbacv1.AddToScheme(s))
	return s
}

// newWorld starts a sandbox and makes a namespace. Nothing is applied and no operator runs yet.
func newWorld(t *testing.T, options sandbox.Options) *world {
	t.Helper()
	granted.Do(func() {
		if err := env.GrantOperatorRole(t.Context()); err != nil {
			t.Fatal(err)
		}
	})
	return newWorldIn(t, env, options)
}

// newWorldIn is newWorld in a control plane of its own, which has the operator's role.
func newWorldIn(t *testing.T, env *testenv.Environment, options sandbox.Options) *world {
	t.Helper()
	options.Logger = slog.New(slog.DiscardHandler)
	service := sandbox.New(options)
	server := httptest.NewServer(service)
	t.Cleanup(func() { service.Close(); server.Close() })
	w := &world{T: t, env: env, namespace: env.Namespace(t), url: server.URL, sandbox: control.New(server.URL)}
	w.kubeconfig, w.operatorConfig = filepath.Join(t.TempDir(), "kubeconfig"), filepath.Join(t.TempDir(), "kubeconfig")
	w.check(env.WriteKubeconfig(w.kubeconfig))
	w.check(env.WriteOperatorKubeconfig(w.operatorConfig))
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

// start starts the operator, or starts it again.
func (w *world) start(flags ...string) {
	w.Helper()
	binary, err := env.Build("./cmd/mandate-operator")
	w.check(err)
	// Not the test's context: that ends before Stop could ask the operator to end by itself.
	command := exec.CommandContext(context.WithoutCancel(w.Context()), binary, append([]string{
		"--watch-namespaces=" + w.namespace, "--settle-delay=" + settleDelay.String(), "--health-probe-bind-address=0", "--zap-log-level=10",
	}, flags...)...)
	command.Env = append(os.Environ(), "KUBECONFIG="+w.operatorConfig, "GORACE=atexit_sleep_ms=0")
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

// story is what a log tells below the level of the libraries.
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

// credentials puts the right ones into the Secret of the IdentityService.
func (w *world) credentials() {
	w.Helper()
	w.secret("idv", map[string]string{"username": sandbox.DefaultUsername, "password": sandbox.DefaultPassword})
}

func (w *world) secret(name string, data map[string]string) {
	w.Helper()
	secret := &corev1.Secret{ObjectMeta: metav1.ObjectMeta{Namespace: w.namespace, Name: name}, StringData: data}
	if err := w.Create(w.Context(), secret); err != nil {
		w.check(w.Update(w.Context(), secret))
	}
}

// apply creates or patches an object of our API, as kubectl apply --server-side does.
func (w *world) apply(manifest string) {
	w.Helper()
	object := w.parse(manifest)
	w.check(w.Apply(w.Context(), client.ApplyConfigurationFromUnstructured(object), client.FieldOwner("test"), client.ForceOwnership))
}

func (w *world) parse(manifest string) *unstructured.Unstructured {
	w.Helper()
	object := &unstructured.Unstructured{}
	w.check(yaml.Unmarshal([]byte(manifest), &object.Object))
	object.SetAPIVersion(v1alpha1.SchemeGroupVersion.String())
	object.SetNamespace(w.namespace)
	return object
}

// mandate applies a Mandate with one individual; spec is added to it.
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

// until waits until a Mandate is as wanted, and gives it.
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
	return w.until(name, fmt.Sprintf("%s=%s with reason %s", conditionType, status, reason), func(m *v1alpha1.Mandate) bool {
		c := meta.FindStatusCondition(m.Status.Conditions, conditionType)
		return c != nil && c.Status == status && c.Reason == reason && c.ObservedGeneration == m.Generation
	})
}

func (w *world) ready(name string) *v1alpha1.Mandate {
	w.Helper()
	return w.condition(name, v1alpha1.ConditionReady, metav1.ConditionTrue, v1alpha1.ReasonAccepted)
}

// stalled waits until a Mandate says that a person must act, and why.
func (w *world) stalled(name, reason string) *v1alpha1.Mandate {
	w.Helper()
	w.condition(name, v1alpha1.ConditionReady, metav1.ConditionFalse, reason)
	return w.condition(name, v1alpha1.ConditionStalled, metav1.ConditionTrue, reason)
}

func (w *world) serviceReady(status metav1.ConditionStatus, reason string) {
	w.Helper()
	w.serviceIs("default", status, reason)
}

// serviceIs waits until an IdentityService is Ready, or is not, with a reason, or with any if it is empty.
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

// eventually asks again and again, and fails with the last answer after timeout.
func (w *world) eventually(done func() (bool, string)) {
	w.Helper()
	testenv.Eventually(w.T, timeout, done)
}

// emails are the e-mails sent so far, which must be as many as wanted.
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

func (w *world) fault(f control.Fault) {
	w.Helper()
	w.check(w.sandbox.Fault(w.Context(), f))
}

// play lets all individuals of an application finish their checks with a result.
func (w *world) play(m *v1alpha1.Mandate, result control.Result) {
	w.Helper()
	_, err := w.sandbox.Play(w.Context(), control.Play{ApplicationID: *m.Status.ApplicationID, Result: result})
	w.check(err)
}

// kubectl runs kubectl in the namespace and gives what it prints.
func (w *world) kubectl(arguments ...string) string {
	w.Helper()
	ctx, cancel := context.WithTimeout(w.Context(), 2*timeout) // kubectl waits for ever for what does not go
	defer cancel()
	command := exec.CommandContext(ctx, w.env.Kubectl, append([]string{"--kubeconfig", w.kubeconfig, "--namespace", w.namespace}, arguments...)...)
	output, err := command.CombinedOutput()
	if err != nil {
		w.Fatalf("kubectl %v: %v\n%s", arguments, err, output)
	}
	return string(output)
}
