package operator_test

import (
	"bufio"
	"fmt"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"k8s.io/client-go/kubernetes"

	"github.com/mandate-io/idv/internal/sandbox/control"
)

// A Mandate costs three writes to the API server and two requests to the service from manifest to Ready, and no write
// for a poll without changes. The test is not parallel, because the API server counts all requests.
func TestCost(t *testing.T) {
	w := running(t)
	w.mandate("warmup", "{}")
	w.ready("warmup")

	const mandates = 5
	writes := w.writes()
	creates, reads := w.requests(control.CreateApplication), w.requests(control.RetrieveApplication)
	w.kubectl("delete", "mandate", "warmup") // its polls would be counted
	for i := range mandates {
		w.mandate(fmt.Sprintf("acme-%d", i), "{}")
	}
	for i := range mandates {
		w.ready(fmt.Sprintf("acme-%d", i))
	}
	cost := w.writes().minus(writes)
	want := counts{
		"POST applicationrecords": mandates, "PATCH applicationrecords": mandates, "PATCH mandates/status": mandates,
		"APPLY mandates": mandates, "DELETE mandates": 1, // of the test itself
	}
	for key, n := range cost {
		if n != want[key] {
			t.Errorf("%s: %d writes for %d Mandates, want %d", key, n, mandates, want[key])
		}
	}
	if len(cost) != len(want) {
		t.Errorf("writes are %v, want %v", cost, want)
	}
	if got := w.requests(control.CreateApplication) - creates; got != mandates {
		t.Errorf("%d create requests for %d Mandates", got, mandates)
	}

	writes, reads = w.writes(), w.requests(control.RetrieveApplication)
	w.eventually(func() (bool, string) { return w.requests(control.RetrieveApplication) >= reads+3*mandates, "no polls" })
	if idle := w.writes().minus(writes); len(idle) > 0 {
		t.Errorf("polls without changes wrote: %v", idle)
	}
}

// The requests to the API server that reconciling a new Mandate makes, in order. `make bench` would show each further
// one.
func TestRequestsToReady(t *testing.T) {
	t.Parallel()
	cases := map[string]struct {
		spec string
		want []string
	}{
		"all in the spec": {
			spec: "{}",
			want: []string{
				"create ApplicationRecord",
				"get IdentityService",
				"get Mandate",
				"patch ApplicationRecord",
				"patch status of Mandate",
			},
		},
		"details in a Secret, which is read before the attempt because it may be missing": {
			spec: "{individuals: [{name: jane, detailsSecretRef: {name: jane}}]}",
			want: []string{
				"get Mandate",
				"get Secret",
				"create ApplicationRecord",
				"get IdentityService",
				"get Mandate",
				"patch ApplicationRecord",
				"patch status of Mandate",
			},
		},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := connected(t)
			w.secret("jane", map[string]string{"email": "jane@example.com"})
			r := w.newManualReconciler()
			w.mandate("acme", c.spec)
			var made []string
			r.before = func(request string) { made = append(made, request) }
			r.reconcile("acme")
			if diff := cmp.Diff(c.want, made); diff != "" {
				t.Error(diff)
			}
			w.emails(1)
		})
	}
}

// counts are numbers of writes to our kinds and to events, by verb and resource.
type counts map[string]int

func (c counts) minus(before counts) counts {
	difference := counts{}
	for key, n := range c {
		if n != before[key] {
			difference[key] = n - before[key]
		}
	}
	return difference
}

var requestTotal = regexp.MustCompile(`^apiserver_request_total\{(.*)\} (\S+)$`)

func (w *world) writes() counts {
	w.Helper()
	clientset, err := kubernetes.NewForConfig(env.Config)
	w.check(err)
	metrics, err := clientset.RESTClient().Get().AbsPath("/metrics").DoRaw(w.Context())
	w.check(err)
	result := counts{}
	for scanner := bufio.NewScanner(strings.NewReader(string(metrics))); scanner.Scan(); {
		match := requestTotal.FindStringSubmatch(scanner.Text())
		if match == nil {
			continue
		}
		labels := map[string]string{}
		for label := range strings.SplitSeq(match[1], ",") {
			name, value, _ := strings.Cut(label, "=")
			labels[name] = strings.Trim(value, `"`)
		}
		ours := labels["group"] == "idv.mandate.io" || labels["resource"] == "events"
		// The finalizer of a service is added with the first Mandate and removed with the last, at most every twenty
		// seconds: that is no cost of a Mandate or of a poll.
		if labels["resource"] == "identityservices" && labels["subresource"] == "" {
			continue
		}
		n, err := strconv.ParseFloat(match[2], 64)
		if read := labels["verb"] == "GET" || labels["verb"] == "LIST" || labels["verb"] == "WATCH"; !ours || read ||
			err != nil {
			continue
		}
		key := labels["verb"] + " " + labels["resource"]
		if labels["subresource"] != "" {
			key += "/" + labels["subresource"]
		}
		result[key] += int(n)
	}
	return result
}
