package operator_test

import (
	"bufio"
	"fmt"
	"maps"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"

	"github.com/mandate-io/idv/api/v1alpha1"
	"github.com/mandate-io/idv/internal/sandbox/control"
)

// A Mandate costs three writes to the API server and two requests to the service from manifest to Ready, and no write
// for a poll without changes. The test is not parallel, because the API server counts all requests.
func TestCost(t *testing.T) {
	before := apiWrites(t)
	w := connected(t)
	w.start(settlesSlowly)
	w.serviceReady(metav1.ConditionTrue, v1alpha1.ReasonConnected)
	w.mandate("warmup", "{}")
	w.ready("warmup")
	// The service works, the name of a state and, once for twenty Mandates, a part of the budget.
	w.costs(before, perMandate(1).plus(counts{"PATCH identityservices/status": 3}))

	const mandates = 5
	before = apiWrites(t)
	creates := w.requests(control.CreateApplication)
	w.kubectl("delete", "mandate", "warmup") // its polls would be counted
	for i := range mandates {
		w.mandate(fmt.Sprintf("acme-%d", i), "{}")
	}
	for i := range mandates {
		w.ready(fmt.Sprintf("acme-%d", i))
	}
	w.costs(before, perMandate(mandates).plus(counts{"DELETE mandates": 1}))
	if got := w.requests(control.CreateApplication) - creates; got != mandates {
		t.Errorf("%d create requests for %d Mandates", got, mandates)
	}

	before = apiWrites(t)
	reads := w.requests(control.RetrieveApplication)
	w.eventually(func() (bool, string) { return w.requests(control.RetrieveApplication) >= reads+3*mandates, "no polls" })
	if idle := apiWrites(t).minus(before); len(idle) > 0 {
		t.Errorf("polls without changes wrote: %v", idle)
	}
}

// A decision costs three writes: its entry in the log, the result, and the status. The first application of a service
// in a state costs one more, for its name. The test is not parallel, because the API server counts all requests.
func TestCostOfADecision(t *testing.T) {
	w := connected(t)
	w.start(settlesSlowly)
	w.serviceReady(metav1.ConditionTrue, v1alpha1.ReasonConnected)
	w.mandate("acme", "{}")
	w.play(w.ready("acme"), control.ResultPass)
	seen := w.inReview("acme")
	w.stateNames("default", "created Open", "in review InReview")
	before := apiWrites(t)
	w.mandate("acme", "{"+decision(seen, v1alpha1.DecisionComplete)+"}")
	w.condition("acme", v1alpha1.ConditionCompleted, metav1.ConditionTrue, string(v1alpha1.OutcomeCompleted))
	w.costs(before, counts{
		"APPLY mandates": 1, "PATCH applicationrecords": 2, "PATCH mandates/status": 1, "POST events": 1,
		"PATCH identityservices/status": 1,
	})
}

// perMandate is what Mandates cost from manifest to Ready, with the write of the test itself.
func perMandate(n int) counts {
	return counts{
		"APPLY mandates": n, "POST applicationrecords": n, "PATCH applicationrecords": n, "PATCH mandates/status": n,
	}
}

// costs waits until the writes are the wanted ones: the API server counts a write after its effect can be seen.
func (w *world) costs(before, want counts) {
	w.Helper()
	w.eventually(func() (bool, string) {
		got := apiWrites(w.T).minus(before)
		for key, n := range got {
			if n > want[key] {
				w.Fatalf("%s: %d writes, want %d", key, n, want[key])
			}
		}
		return maps.Equal(got, want), fmt.Sprintf("the writes are %v, want %v", got, want)
	})
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
			var made []string
			r.before = func(request string) { made = append(made, request) }
			tries := 0
			w.eventually(func() (bool, string) { // a busy machine looks again before it creates
				made = nil
				tries++
				name := fmt.Sprintf("acme-%d", tries)
				w.mandate(name, c.spec)
				r.reconcile(name)
				return strings.Count(fmt.Sprint(made), "get IdentityService") == 1, fmt.Sprintf("it made %q", made)
			})
			if diff := cmp.Diff(c.want, made); diff != "" {
				t.Error(diff)
			}
			w.emails(tries)
		})
	}
}

// counts are numbers of writes to our kinds and to events, by verb and resource.
type counts map[string]int

func (c counts) plus(other counts) counts {
	sum := maps.Clone(c)
	for key, n := range other {
		sum[key] += n
	}
	return sum
}

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

// apiWrites are all that the API server has counted.
func apiWrites(t *testing.T) counts {
	t.Helper()
	clientset, err := kubernetes.NewForConfig(env.Config)
	if err != nil {
		t.Fatal(err)
	}
	metrics, err := clientset.RESTClient().Get().AbsPath("/metrics").DoRaw(t.Context())
	if err != nil {
		t.Fatal(err)
	}
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
