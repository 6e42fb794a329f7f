package operator_test

import (
	"cmp"
	"fmt"
	"strings"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"
	clientcmdapi "k8s.io/client-go/tools/clientcmd/api"

	"github.com/mandate-io/idv/api/v1alpha1"
	"github.com/mandate-io/idv/internal/sandbox"
	"github.com/mandate-io/idv/internal/sandbox/control"
	"github.com/mandate-io/idv/internal/test/testenv/faultproxy"
	"github.com/mandate-io/idv/operator/ledger"
)

// runningBehind is a world whose operator reaches the API server through a proxy, which can stall its watches.
func runningBehind(t *testing.T) (*world, *faultproxy.Proxy) {
	t.Helper()
	w := newWorld(t, sandbox.Options{})
	w.connect()
	proxy := w.behind(faultproxy.Options{
		Inject: func(faultproxy.Request) faultproxy.Fault { return faultproxy.Fault{} },
	})
	w.start()
	w.serviceReady(metav1.ConditionTrue, v1alpha1.ReasonConnected)
	return w, proxy
}

// behind puts a proxy between the API server and the operators to come.
func (w *world) behind(options faultproxy.Options) *faultproxy.Proxy {
	w.Helper()
	server, err := clientcmd.BuildConfigFromFlags("", w.operatorConfig)
	w.check(err)
	options.Target, options.TLS = server.Host, true
	options.Transport, err = rest.TransportFor(server)
	w.check(err)
	proxy, err := faultproxy.New(options)
	w.check(err)
	w.Cleanup(proxy.Close)
	config := clientcmdapi.NewConfig()
	config.Clusters["proxy"] = &clientcmdapi.Cluster{Server: proxy.URL, CertificateAuthorityData: proxy.CA}
	config.Contexts["proxy"] = &clientcmdapi.Context{Cluster: "proxy"}
	config.CurrentContext = "proxy"
	w.check(clientcmd.WriteToFile(*config, w.operatorConfig))
	return proxy
}

// acting are the operations that change an application.
var acting = []control.Operation{
	control.CompleteApplication, control.RejectApplication, control.ArchiveApplication, control.DeleteApplication,
	control.AcceptCheck, control.RejectCheck,
}

func (w *world) acts() string {
	w.Helper()
	var sent []string
	for _, operation := range acting {
		if n := w.requests(operation); n > 0 {
			sent = append(sent, fmt.Sprintf("%s: %d", operation, n))
		}
	}
	return fmt.Sprint(sent)
}

// A user withdraws what the operator is about to do, and the watch of the operator stalls before it delivers the edit.
// The operator does not act on the Mandate that its cache has.
func TestStalledWatch(t *testing.T) {
	t.Parallel()
	none := func(*v1alpha1.Mandate) string { return "{}" }
	decided := func(outcome v1alpha1.DecisionOutcome) func(*v1alpha1.Mandate) string {
		return func(m *v1alpha1.Mandate) string { return "{" + decision(m, outcome) + "}" }
	}
	suspended := func(spec func(*v1alpha1.Mandate) string) func(*v1alpha1.Mandate) string {
		return func(m *v1alpha1.Mandate) string { return strings.TrimSuffix(spec(m), "}") + ", suspend: true}" }
	}
	complete, reject := decided(v1alpha1.DecisionComplete), decided(v1alpha1.DecisionReject)
	archived := func(*v1alpha1.Mandate) string { return "{archived: true}" }
	reviewed := func(m *v1alpha1.Mandate) string {
		return "{checkReviews: [" + review(m, "document", v1alpha1.CheckDecisionAccept) + "]}"
	}
	cases := map[string]struct {
		before func(*v1alpha1.Mandate) string // the spec that the cache has
		after  func(*v1alpha1.Mandate) string // what it is edited to; nil: edit does more
		edit   func(*world)
		acts   string // what the operator sends once the watch goes on
	}{
		"the decision is removed":     {before: complete, after: none},
		"the decision is another one": {before: complete, after: reject, acts: "[reject_application: 1]"},
		"the Mandate is suspended":    {before: reject, after: suspended(reject)},
		"the Mandate is another one": {
			before: complete,
			edit: func(w *world) {
				w.kubectl("delete", "mandate", "acme")
				w.mandate("acme", "{}")
			},
		},
		"the archiving is suspended": {before: archived, after: suspended(archived)},
		"the review is removed":      {before: reviewed, after: none},
		"the IdentityService leads to another service": {
			before: complete,
			edit: func(w *world) {
				other := newWorld(w.T, sandbox.Options{})
				w.newService("default", fmt.Sprintf("baseURL: %q", other.url))
			},
		},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w, proxy := runningBehind(t)
			w.mandate("acme", "{}")
			w.play(w.ready("acme"), control.ResultReview)
			m := w.inReview("acme")
			w.fault(alwaysAnswers(control.RetrieveApplication, 403)) // keeps the operator from acting yet
			w.mandate("acme", c.before(m))
			w.condition("acme", v1alpha1.ConditionStalled, metav1.ConditionTrue, v1alpha1.ReasonReadForbidden)
			proxy.Watches.Pause()
			if c.after != nil {
				w.mandate("acme", c.after(m))
			} else {
				c.edit(w)
			}
			w.waitPolls(1) // a reconciliation that began before is over
			w.check(w.sandbox.ClearFaults(t.Context()))
			w.waitPolls(3)
			if got := w.acts(); got != "[]" {
				t.Errorf("the operator acted on a stale Mandate: it sent %s", got)
			}
			proxy.Watches.Resume()
			w.eventually(func() (bool, string) {
				return w.acts() == cmp.Or(c.acts, "[]"), "the operator sent " + w.acts()
			})
		})
	}
}

// A user deletes a Mandate whose rule is about to hold, and the watch of the operator has stalled.
func TestStalledWatchOfADeletedMandate(t *testing.T) {
	t.Parallel()
	w, proxy := runningBehind(t)
	w.mandate("acme", "{"+byRule+"}")
	w.play(w.ready("acme"), control.ResultPass)
	w.inReview("acme")
	proxy.Watches.Pause()
	w.deleteMandate("acme")
	w.eventually(func() (bool, string) { // once the rule has held for twenty seconds
		decided := ledger.Find(w.onlyRecord(), func(c *v1alpha1.Call) bool { return c.Kind == v1alpha1.CallComplete })
		return decided != nil && decided.Result == v1alpha1.CallNotSent, "the decision is not withdrawn"
	})
	if got := w.acts(); got != "[]" {
		t.Errorf("the operator acted on a stale Mandate: it sent %s", got)
	}
}

// A user sets deletionPolicy to Retain while the operator reads the application, to do what the policy was before.
func TestDeletionPolicyChangesMeanwhile(t *testing.T) {
	t.Parallel()
	for _, policy := range []v1alpha1.DeletionPolicy{v1alpha1.DeletionPolicyDelete, v1alpha1.DeletionPolicyArchive} {
		t.Run(string(policy), func(t *testing.T) {
			t.Parallel()
			w, proxy := runningBehind(t)
			w.newService("default", fmt.Sprintf("baseURL: %q, polling: {minIntervalSeconds: 3600}", w.url))
			w.serviceReady(metav1.ConditionTrue, v1alpha1.ReasonConnected)
			w.mandate("acme", fmt.Sprintf("{deletionPolicy: %s}", policy))
			w.ready("acme")
			w.fault(slowed(control.RetrieveApplication, 2*time.Second))
			read := w.requests(control.RetrieveApplication)
			w.deleteMandate("acme")
			w.eventually(func() (bool, string) {
				return w.requests(control.RetrieveApplication) > read, "the application is not read"
			})
			proxy.Watches.Pause()
			w.mandate("acme", "{deletionPolicy: Retain}")
			w.eventually(func() (bool, string) {
				return w.requests(control.RetrieveApplication) > read+1 || w.acts() != "[]", "nothing follows the read"
			})
			if got := w.acts(); got != "[]" {
				t.Errorf("the operator acted on a stale Mandate: it sent %s", got)
			}
			proxy.Watches.Resume()
			w.waitGone("acme")
			if got := w.acts(); got != "[]" {
				t.Errorf("deletionPolicy is Retain, and the operator sent %s", got)
			}
		})
	}
}
