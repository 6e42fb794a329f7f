package operator_test

import (
	"cmp"
	"fmt"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"
	clientcmdapi "k8s.io/client-go/tools/clientcmd/api"

	"github.com/mandate-io/idv/api/v1alpha1"
	"github.com/mandate-io/idv/internal/sandbox"
	"github.com/mandate-io/idv/internal/sandbox/control"
	"github.com/mandate-io/idv/internal/testenv/faultproxy"
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
	refused := func(operation control.Operation) func(*world) {
		return func(w *world) { w.fault(alwaysAnswers(operation, 409)) }
	}
	review := "{checkReviews: [{individual: jane, check: document, decision: Accept}]}"
	cases := map[string]struct {
		before  string       // the spec that the cache has
		prepare func(*world) // what keeps the operator from acting on it yet
		edit    func(*world)
		acts    string // what the operator sends once the watch goes on
	}{
		"the decision is removed": {
			before: "{decision: Complete}",
			edit:   func(w *world) { w.mandate("acme", "{}") },
		},
		"the decision is another one": {
			before: "{decision: Complete}",
			edit:   func(w *world) { w.mandate("acme", "{decision: Reject}") },
			acts:   "[reject_application: 1]",
		},
		"the Mandate is suspended": {
			before: "{decision: Reject}",
			edit:   func(w *world) { w.mandate("acme", "{decision: Reject, suspend: true}") },
		},
		"the Mandate is deleted": {
			before: "{decision: Complete}",
			edit:   func(w *world) { w.deleteMandate("acme") },
		},
		"the Mandate is another one": {
			before: "{decision: Complete}",
			edit: func(w *world) {
				w.kubectl("delete", "mandate", "acme")
				w.mandate("acme", "{}")
			},
		},
		"the archiving is suspended": {
			before:  "{archived: true}",
			prepare: refused(control.ArchiveApplication),
			edit:    func(w *world) { w.mandate("acme", "{archived: true, suspend: true}") },
		},
		"the review is removed": {
			before:  review,
			prepare: func(w *world) { w.check(w.sandbox.SetDialect(w.Context(), "decidableChecks", "in_review")) },
			edit:    func(w *world) { w.mandate("acme", "{}") },
		},
		"the IdentityService leads to another service": {
			before: "{decision: Complete}",
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
			if c.prepare != nil {
				c.prepare(w)
			}
			w.mandate("acme", c.before)
			m := w.until("acme", "reconciled", func(m *v1alpha1.Mandate) bool {
				return m.Status.ApplicationID != nil && m.Status.ObservedGeneration == m.Generation
			})
			proxy.Watches.Pause()
			c.edit(w)
			w.waitPolls(1) // a reconciliation that began before is over
			w.play(m, control.ResultReview)
			w.check(w.sandbox.ClearFaults(t.Context()))
			sent := w.acts()
			w.waitPolls(3)
			if got := w.acts(); got != sent {
				t.Errorf("the operator acted on a stale Mandate: it sent %s, and %s before", got, sent)
			}
			proxy.Watches.Resume()
			w.eventually(func() (bool, string) { return w.acts() == cmp.Or(c.acts, sent), "the operator sent " + w.acts() })
		})
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
