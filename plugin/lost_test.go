package plugin_test

import (
	"bytes"
	"context"
	"io"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"path/filepath"
	"regexp"
	"strings"
	"sync/atomic"
	"testing"

	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"
	clientcmdapi "k8s.io/client-go/tools/clientcmd/api"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/mandate-io/idv/api/v1alpha1"
	"github.com/mandate-io/idv/internal/sandbox"
	"github.com/mandate-io/idv/internal/test/testenv/faultproxy"
	"github.com/mandate-io/idv/plugin"
)

// status is a response that an API server or a proxy before it gives.
func status(code int) faultproxy.Fault {
	return faultproxy.Fault{Replace: &faultproxy.Response{Status: code, Body: []byte(http.StatusText(code))}}
}

// through has the plugin reach the API server through a proxy. inject gets the method, the resource with the name, and
// how many requests with both came before.
func (w *world) through(inject func(method, path string, before int32) faultproxy.Fault) {
	w.Helper()
	transport, err := rest.TransportFor(env.Config)
	w.check(err)
	requests := map[string]*atomic.Int32{"POST": {}, "GET": {}, "PATCH": {}}
	proxy, err := faultproxy.New(faultproxy.Options{
		Target: env.Config.Host, Transport: transport,
		Refuse: func(string) bool { return true }, // so that each look is a GET
		Inject: func(r faultproxy.Request) faultproxy.Fault {
			_, path, ours := strings.Cut(r.Path, "/namespaces/"+w.namespace+"/")
			if !ours {
				return faultproxy.Fault{}
			}
			return inject(r.Method, path, requests[r.Method].Add(1)-1)
		},
	})
	w.check(err)
	w.Cleanup(proxy.Close)
	w.connectTo(proxy.URL)
}

// changing has the plugin get responses of the API server that were changed.
func (w *world) changing(change func(*http.Response) error) {
	w.Helper()
	transport, err := rest.TransportFor(env.Config)
	w.check(err)
	target, err := url.Parse(env.Config.Host)
	w.check(err)
	server := httptest.NewServer(&httputil.ReverseProxy{
		Rewrite: func(r *httputil.ProxyRequest) {
			r.SetURL(target)
			r.Out.Header.Set("Accept-Encoding", "identity")
		},
		Transport: transport, FlushInterval: -1, ModifyResponse: change,
	})
	w.Cleanup(server.Close)
	w.connectTo(server.URL)
}

// connectTo has the plugin use a proxy before the API server.
func (w *world) connectTo(url string) {
	w.Helper()
	config := clientcmdapi.NewConfig()
	config.Clusters["proxy"] = &clientcmdapi.Cluster{Server: url}
	config.Contexts["proxy"] = &clientcmdapi.Context{Cluster: "proxy"}
	config.CurrentContext = "proxy"
	w.kubeconfig = filepath.Join(w.TempDir(), "proxy")
	w.check(clientcmd.WriteToFile(*config, w.kubeconfig))
}

// patchStatus is what the operator would write.
func (w *world) patchStatus(object client.Object, patch string) {
	w.check(w.Status().Patch(context.WithoutCancel(w.Context()), object,
		client.RawPatch(types.MergePatchType, []byte(patch))))
}

func (w *world) actions() []v1alpha1.MandateAction {
	w.Helper()
	actions := &v1alpha1.MandateActionList{}
	w.check(w.List(w.Context(), actions, client.InNamespace(w.namespace)))
	return actions.Items
}

const complete = `{"status": {"conditions": [{"type": "Complete", "status": "True", "reason": "CarriedOut",
  "message": "Done.", "lastTransitionTime": "2026-01-01T00:00:00Z"}]}}`

const accepted = `{"status": {"observedGeneration": 1, "conditions": [{"type": "Ready", "status": "True",
  "reason": "Accepted", "message": "Done.", "observedGeneration": 1, "lastTransitionTime": "2026-01-01T00:00:00Z"}]}}`

// TestLostAnswerOfACreate e-mails nobody twice: whatever is lost, there is one action, or the plugin says which one
// there may be.
func TestLostAnswerOfACreate(t *testing.T) {
	lost, unsent := faultproxy.Fault{Drop: faultproxy.DropResponse}, faultproxy.Fault{Drop: faultproxy.DropRequest}
	cases := map[string]struct {
		creates []faultproxy.Fault // the last one repeats
		code    int
		actions int
		says    string
	}{
		"nothing":             {creates: []faultproxy.Fault{{}}, actions: 1, says: "Complete, CarriedOut"},
		"the answer":          {creates: []faultproxy.Fault{lost, {}}, actions: 1, says: "Complete, CarriedOut"},
		"the request":         {creates: []faultproxy.Fault{unsent, {}}, actions: 1, says: "Complete, CarriedOut"},
		"twice":               {creates: []faultproxy.Fault{{Duplicate: true}}, actions: 1, says: "Complete, CarriedOut"},
		"503":                 {creates: []faultproxy.Fault{status(503), {}}, actions: 1, says: "Complete, CarriedOut"},
		"then refused":        {creates: []faultproxy.Fault{lost, status(403)}, actions: 1, says: "Complete, CarriedOut"},
		"refused":             {creates: []faultproxy.Fault{status(403), lost}, code: 1, says: "idv-editor"},
		"until the time ends": {creates: []faultproxy.Fault{unsent}, code: 4},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t, sandbox.Options{})
			w.mandate("acme")
			w.through(func(method, path string, before int32) faultproxy.Fault {
				switch {
				case method == http.MethodPost:
					return tc.creates[min(int(before), len(tc.creates)-1)]
				case strings.HasPrefix(path, "mandateactions/"):
					return faultproxy.Fault{OnRequest: func() {
						for _, action := range w.actions() {
							w.patchStatus(&action, complete)
						}
					}}
				}
				return faultproxy.Fault{}
			})
			timeout := "--timeout=0"
			if tc.code == 4 {
				timeout = "--timeout=2s"
			}
			out := w.run("", tc.code, "resend", "acme", "jane", "--yes", timeout)
			made := regexp.MustCompile(`Creating the MandateAction (\S+):`).FindStringSubmatch(out)
			if made == nil {
				t.Fatalf("no name in:\n%s", out)
			}
			w.contains(out, tc.says)
			look := "kubectl get mandateaction -n " + w.namespace + " " + made[1]
			if tc.code == 4 != strings.Contains(out, look) {
				t.Errorf("%q is there or missing:\n%s", look, out)
			}
			actions := w.actions()
			if len(actions) != tc.actions || len(actions) == 1 && actions[0].Name != made[1] {
				t.Errorf("%d actions, want %d: %s", len(actions), tc.actions, out)
			}
		})
	}
}

// TestWaitsThroughFailures has a wait go on after errors that pass, and end with those that last.
func TestWaitsThroughFailures(t *testing.T) {
	w := newWorld(t, sandbox.Options{})
	w.mandate("acme")
	direct := w.kubeconfig
	w.through(func(_, _ string, before int32) faultproxy.Fault {
		switch before {
		case 1, 2:
			return status(500 + 3*int(before-1))
		case 3:
			acme := &v1alpha1.Mandate{ObjectMeta: w.named("acme")}
			return faultproxy.Fault{OnRequest: func() { w.patchStatus(acme, accepted) }}
		}
		return faultproxy.Fault{}
	})
	out := w.run("", 0, "wait", "acme")
	w.contains(out, "trying again", "Ready=True, Accepted")
	if n := strings.Count(out, "warning:"); n != 1 {
		t.Errorf("%d warnings in:\n%s", n, out)
	}
	for code, want := range map[int]int{401: 1, 403: 1, 429: 4, 500: 4} {
		w.kubeconfig = direct
		w.through(func(_, _ string, _ int32) faultproxy.Fault { return status(code) })
		out := w.run("", want, "wait", "acme", "--for=outcome", "--timeout=3s")
		if said := strings.Contains(out, "the API server could not be read"); said != (want == 4) {
			t.Errorf("%d:\n%s", code, out)
		}
	}
}

// TestInterruption says what goes on without the plugin, and how to end it.
func TestInterruption(t *testing.T) {
	w := newWorld(t, sandbox.Options{})
	w.mandate("acme")
	ctx, interrupt := context.WithCancel(t.Context())
	w.through(func(_, path string, _ int32) faultproxy.Fault {
		if strings.HasPrefix(path, "mandateactions/") {
			return faultproxy.Fault{OnRequest: interrupt}
		}
		return faultproxy.Fault{}
	})
	out := w.runIn(ctx, "", 1, "resend", "acme", "jane", "--yes")
	w.contains(out, "interrupted: the MandateAction "+w.actions()[0].Name+" waits", "kubectl delete mandateaction -n ")
}

// A neverEndingInput is a standard input that nobody ends. Each read of it interrupts the plugin.
type neverEndingInput struct {
	interrupt func()
	ended     <-chan struct{}
}

func (in neverEndingInput) Read([]byte) (int, error) {
	in.interrupt()
	<-in.ended
	return 0, io.EOF
}

// TestInterruptionOfTheInput ends each command that reads the standard input, although no read of it ends.
func TestInterruptionOfTheInput(t *testing.T) {
	w := newWorld(t, sandbox.Options{})
	for _, arguments := range [][]string{
		{"import", "--file", "-"}, {"adopt", "--from", "-"}, {"plan", "-f", "-"},
		{"check-connection", "--base-url", w.url, "--credentials-file", "-"},
	} {
		ctx, interrupt := context.WithCancel(t.Context())
		out := &bytes.Buffer{}
		streams := plugin.Streams{In: neverEndingInput{interrupt, t.Context().Done()}, Out: out, ErrOut: out}
		w.stream(ctx, streams, 5, arguments)
		w.contains(out.String(), "interrupted; nothing was changed")
	}
}

// TestLostAnswerOfAChange says that the change may have been made, and that it can be repeated.
func TestLostAnswerOfAChange(t *testing.T) {
	w := newWorld(t, sandbox.Options{})
	w.mandate("acme")
	w.shows("acme", "7d9f2c41-3")
	w.through(func(method, _ string, before int32) faultproxy.Fault {
		if method == http.MethodPatch && before == 0 {
			return faultproxy.Fault{Drop: faultproxy.DropResponse}
		}
		return faultproxy.Fault{}
	})
	decide := []string{"decide", "acme", "Reject", "--yes", "--refresh=false"}
	w.contains(w.run("", 1, decide...), "may have been made", "repeat the command")
	w.contains(w.run("", 0, decide...), "has this decision already")
}

// TestWatchThatEnds has a wait go on when the watch says 410 Gone, ends without an event, or is not allowed.
func TestWatchThatEnds(t *testing.T) {
	gone := `{"type": "ERROR", "object": {"kind": "Status", "apiVersion": "v1", "status": "Failure", "reason": "Expired",
  "code": 410, "message": "too old resource version"}}`
	for name, stream := range map[string]string{"gone": gone, "ended": "", "forbidden": "403"} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t, sandbox.Options{})
			w.mandate("acme")
			var watches atomic.Int32
			w.changing(func(response *http.Response) error {
				if response.Request.URL.Query().Get("watch") == "" {
					return nil
				}
				watches.Add(1)
				w.patchStatus(&v1alpha1.Mandate{ObjectMeta: w.named("acme")}, accepted)
				if stream == "403" {
					response.StatusCode = http.StatusForbidden
				}
				_ = response.Body.Close()
				response.Body = io.NopCloser(strings.NewReader(stream))
				response.ContentLength = int64(len(stream))
				return nil
			})
			w.contains(w.run("", 0, "wait", "acme"), "Ready=True, Accepted")
			if watches.Load() == 0 {
				t.Error("no watch")
			}
		})
	}
}
