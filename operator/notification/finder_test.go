package notification

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/runtime/schema"
	clocktesting "k8s.io/utils/clock/testing"

	"github.com/mandate-io/idv/api/v1alpha1"
	idv "github.com/mandate-io/idv/internal/client"
	"github.com/mandate-io/idv/operator/connection"
	"github.com/mandate-io/idv/operator/engine"
)

// finding is a Finder with an API server and a service.
type finding struct {
	*testing.T
	*Finder
	api   *apiServer
	time  *clocktesting.FakePassiveClock
	after time.Duration // when the last reconciliation wants the next one

	mu    sync.Mutex
	shows map[int64]string // references, by id; an HTTP status instead of one is an answer
	reads map[int64]int
}

func find(t *testing.T) *finding {
	t.Helper()
	f := &finding{
		T: t, api: newAPIServer(), time: clocktesting.NewFakePassiveClock(time.Now()),
		shows: map[int64]string{}, reads: map[int64]int{},
	}
	f.restart()
	f.connect(testKey, true, 1)
	return f
}

// restart has another process lead.
func (f *finding) restart() {
	f.Finder = NewFinder(connection.ServiceReader{Reader: f.api}, connection.NewRegistry(0), f.api)
	f.clock = f.time
}

// connect makes a service with its connection.
func (f *finding) connect(key connection.Key, ready bool, generation int64) {
	f.Helper()
	server := httptest.NewServer(http.HandlerFunc(f.serve))
	f.Cleanup(server.Close)
	used, err := idv.New(idv.Config{
		BaseURL: server.URL, RequestsPerSecond: -1, Credentials: idv.Credentials{Username: "a", Password: idv.Hide("b")},
	})
	if err != nil {
		f.Fatal(err)
	}
	f.Cleanup(used.Close)
	if f.api.services[key] == nil {
		f.api.connect(key, goodToken)
	}
	f.api.services[key].SetGeneration(generation)
	nobodyListens, cancel := context.WithCancel(f.Context())
	cancel()
	f.connections.Put(nobodyListens, key, connection.Connection{
		Client: used, UID: f.api.services[key].GetUID(), Generation: generation, Ready: ready,
	})
}

func (f *finding) serve(w http.ResponseWriter, r *http.Request) {
	w.Header().Set("Content-Type", "application/json")
	if strings.HasSuffix(r.URL.Path, "/token") {
		_, _ = fmt.Fprint(w, `{"access_token":"t","expires_in":3600,"token_type":"bearer"}`)
		return
	}
	id, _ := strconv.ParseInt(r.URL.Path[strings.LastIndex(r.URL.Path, "/")+1:], 10, 64)
	f.mu.Lock()
	defer f.mu.Unlock()
	f.reads[id]++
	shown, known := f.shows[id]
	if !known {
		shown = "404"
	}
	if status, err := strconv.Atoi(shown); err == nil {
		w.WriteHeader(status)
		_, _ = fmt.Fprintf(w, `{"title":"no","status":%d}`, status)
		return
	}
	_, _ = fmt.Fprintf(w, `{"id":%d,"name":"x","reference":%q,"status":{"id":1,"status":"created"}}`, id, shown)
}

// named has ids put onto the service, as the receiver does.
func (f *finding) named(ids ...int64) {
	f.api.takeOff(testKey)
	written := engine.IDsIn(f.api.services[testKey], v1alpha1.UnknownIDsAnnotation)
	f.api.services[testKey].SetAnnotations(map[string]string{
		v1alpha1.UnknownIDsAnnotation: engine.FormatIDs(append(written, ids...)),
	})
}

// look reconciles the service after some time, and checks which ids are left and how often one was read.
func (f *finding) look(what string, after time.Duration, reads int, left ...int64) {
	f.Helper()
	f.time.SetTime(f.time.Now().Add(after))
	result, err := f.Reconcile(f.Context(), testKey)
	if (err != nil) != (f.api.fails != nil) {
		f.Errorf("%s: %v", what, err)
	}
	f.after = result.RequeueAfter
	if got := f.api.unknown(testKey); !slices.Equal(got, left) {
		f.Errorf("%s: the service has %d, want %d", what, got, left)
	}
	if len(left) > 0 && result.RequeueAfter == 0 && err == nil {
		f.Errorf("%s: nothing happens any more", what)
	}
	if f.reads[7] != reads {
		f.Errorf("%s: %d reads, want %d", what, f.reads[7], reads)
	}
}

func (f *finding) wantNamed(what, name string, want ...int64) {
	f.Helper()
	if got := engine.IDsIn(f.api.mandates[nameOf(name)], v1alpha1.CandidateAnnotation); !slices.Equal(got, want) {
		f.Errorf("%s: %s has %d, want %d", what, name, got, want)
	}
}

// An application is read once, and named to the Mandate whose reference it shows.
func TestFinds(t *testing.T) {
	t.Parallel()
	f := find(t)
	f.api.store(waitingMandate("lost"))
	f.api.store(waitingMandate("other"))
	f.shows[7], f.shows[8] = "team.lost", "of another cluster"
	f.named(7, 8)
	f.look("both", 0, 1)
	f.wantNamed("its own", "lost", 7)
	f.wantNamed("nothing", "other")
	if request := f.api.annotation(t, "lost", v1alpha1.ReconcileRequestAnnotation); !engine.IsNotification(request) {
		t.Errorf("the request is %q", request)
	}
	f.named(8, 8)
	f.look("one of others again", day, 1)
	if f.reads[8] != 1 {
		t.Errorf("%d reads of one of others", f.reads[8])
	}
	// It may differ from the spec, until that is edited.
	before := f.api.annotation(t, "lost", v1alpha1.ReconcileRequestAnnotation)
	f.named(7)
	f.look("its own again", day, 2)
	if f.api.annotation(t, "lost", v1alpha1.ReconcileRequestAnnotation) == before {
		t.Error("the Mandate does not read it again")
	}
	f.named(7)
	f.look("its own at once", 0, 2, 7)
	f.look("its own ten seconds later", namedInterval, 3)
	f.api.store(bound("lost", 7))
	f.named(7)
	f.look("one that is bound meanwhile", day, 4)
}

const day = 24 * time.Hour

// A Mandate whose create is under way has its reference in the spec, or none.
func TestFindsWhatWaitsLater(t *testing.T) {
	t.Parallel()
	f := find(t)
	f.api.services[testKey].(*v1alpha1.IdentityService).Spec.ReferencePrefix = "prefix."
	own, defaulted := creatingMandate("own"), creatingMandate("default")
	own.Status.Reference, defaulted.Status.Reference = "", ""
	own.Spec.Reference = "mine"
	f.api.store(own)
	f.api.store(defaulted)
	f.shows[7], f.shows[8] = "mine", "prefix.team.default"
	f.named(7, 8)
	f.look("both", 0, 1)
	f.wantNamed("of its spec", "own", 7)
	f.wantNamed("of its name", "default", 8)
}

// What a read does not show yet is read for the second time. A second leader begins again.
func TestFindsWhatIsReadInVain(t *testing.T) {
	t.Parallel()
	for _, answer := range []string{"404", "400", "403", ""} {
		f := find(t)
		f.api.store(waitingMandate("lost"))
		f.shows[7] = answer
		f.named(7)
		f.look("too early", 0, 1, 7)
		f.look("still too early", lagAllowance-1, 1, 7)
		f.look("the second time", 1, 2)
		f.named(7)
		f.look("named again, at once", 0, 2, 7)
		f.shows[7] = "team.lost"
		f.look("named again", lagAllowance, 3)
		f.wantNamed("in the end", "lost", 7)
	}
	f := find(t)
	f.shows[7] = "404"
	f.named(7)
	f.look("it is not found", 0, 1, 7)
	f.restart()
	f.connect(testKey, true, 1)
	f.look("another leader", 0, 2, 7)
	f.look("the last time", lagAllowance, 3)
}

// An outage that made an answer be lost may last. An id for which the service fails is read six times in a quarter of
// an hour, until it is named again.
func TestFindsAfterAnOutage(t *testing.T) {
	t.Parallel()
	f := find(t)
	f.api.store(waitingMandate("lost"))
	f.shows[7] = "500"
	f.named(7)
	f.look("first", 0, 1, 7)
	for reads := 2; reads < maxFailures; reads++ {
		wait := lagAllowance << (reads - 2)
		f.look("too early", wait-1, reads-1, 7)
		f.look("in time", 1, reads, 7)
	}
	f.look("the last time", lagAllowance<<(maxFailures-2), maxFailures)
	f.shows[7] = "team.lost"
	f.named(7)
	f.look("named again", lagAllowance, maxFailures+1)
	f.wantNamed("in the end", "lost", 7)
}

// While the service cannot be used, nothing is read, and nothing is lost. An id says nothing about another connection.
func TestFindsLater(t *testing.T) {
	t.Parallel()
	f := find(t)
	f.connect(testKey, false, 1)
	f.api.store(waitingMandate("lost"))
	f.named(7)
	f.look("the circuit is open", 0, 0, 7)
	f.api.services[testKey].SetGeneration(2)
	f.connect(testKey, true, 2)
	f.api.services[testKey].SetGeneration(3)
	f.look("the connection is of an earlier spec", 0, 0, 7)
	f.connect(testKey, true, 3)
	f.shows[7] = "of another"
	f.look("it works", 0, 1)
	f.named(7)
	f.look("known", 0, 1)
	f.connect(testKey, true, 4)
	f.look("nothing is named", 0, 1)
	f.shows[7] = "team.lost"
	f.named(7)
	f.look("at another service", 0, 2)
	f.wantNamed("at another service", "lost", 7)
}

// What the API server does not take is named again, and a person's request stays.
func TestNamesLater(t *testing.T) {
	t.Parallel()
	f := find(t)
	m := waitingMandate("lost")
	m.Annotations = map[string]string{v1alpha1.ReconcileRequestAnnotation: "now, please"}
	f.api.store(m)
	f.shows[7] = "team.lost"
	f.named(7)
	f.api.failWith(errors.New("it is away"))
	f.look("the API server fails", 0, 1, 7)
	f.api.failWith(nil)
	f.look("it works again", time.Second, 2)
	f.wantNamed("it works again", "lost", 7)
	if got := f.api.annotation(t, "lost", v1alpha1.ReconcileRequestAnnotation); got != "now, please" {
		t.Errorf("the request of a person is %q", got)
	}
}

// What others write meanwhile is no error, of which an alert tells, and nothing is lost.
func TestNamesAfterAConflict(t *testing.T) {
	t.Parallel()
	f := find(t)
	f.api.store(waitingMandate("lost"))
	f.shows[7], f.shows[8] = "team.lost", "of another cluster"
	f.named(7, 8)
	f.api.failWith(apierrors.NewConflict(schema.GroupResource{Resource: "objects"}, "lost", nil))
	if _, err := f.Reconcile(t.Context(), testKey); err != nil {
		t.Errorf("a conflict is the error %v", err)
	}
	if left := f.api.unknown(testKey); !slices.Equal(left, []int64{7, 8}) {
		t.Errorf("the service has %d", left)
	}
	f.api.failWith(nil)
	f.look("later", time.Second, 2)
	f.wantNamed("later", "lost", 7)
}

// The Mandate is one of another connection of the account.
func TestFindsForTheAccount(t *testing.T) {
	t.Parallel()
	f := find(t)
	other, foreign := testKey, testKey
	other.Namespace, foreign.Namespace = "other", "foreign"
	f.connect(other, true, 1)
	f.connect(foreign, true, 1)
	f.api.services[foreign].ServiceStatus().Account = "of somebody else"
	for _, key := range []connection.Key{foreign, other} {
		m := waitingMandate("lost")
		m.Namespace = key.Namespace
		f.api.store(m)
	}
	f.shows[7] = "team.lost"
	f.named(7)
	f.look("of the account", 0, 1)
	name := nameOf("lost")
	name.Namespace = other.Namespace
	if got := engine.IDsIn(f.api.mandates[name], v1alpha1.CandidateAnnotation); !slices.Equal(got, []int64{7}) {
		t.Errorf("the Mandate of the other connection has %d", got)
	}
	name.Namespace = foreign.Namespace
	if got := engine.IDsIn(f.api.mandates[name], v1alpha1.CandidateAnnotation); len(got) > 0 {
		t.Errorf("the Mandate of another account has %d", got)
	}
}

// A sender names ids that are none, again and again. That costs one read a second, whatever the service answers.
func TestReadsOfForgedIDs(t *testing.T) {
	t.Parallel()
	const lasts = 10 * time.Minute
	const newOnes = "of others, and always new"
	for _, answer := range []string{"404", "403", "500", "", "of another", newOnes} {
		f := find(t)
		f.api.store(waitingMandate("lost"))
		f.shows[4711] = "team.lost"
		began, first := f.time.Now(), int64(10_000)
		var ids []int64
		for f.time.Now().Sub(began) < lasts {
			for i := range int64(v1alpha1.MaxCandidates) {
				f.shows[first+i] = answer
				ids = append(ids, first+i)
			}
			if answer == newOnes {
				first += v1alpha1.MaxCandidates
			}
			f.named(ids...)
			result, err := f.Reconcile(t.Context(), testKey)
			if err != nil {
				t.Fatal(err)
			}
			f.time.SetTime(f.time.Now().Add(max(result.RequeueAfter, time.Second)))
			ids = nil
		}
		all := 0
		for _, reads := range f.reads {
			all += reads
		}
		most := int(lasts/time.Second) + maxFinderBurst + 1
		if answer == "of another" {
			most = v1alpha1.MaxCandidates
		}
		if all > most || len(f.reads) < v1alpha1.MaxCandidates {
			t.Errorf("%q: %d reads of %d ids, want %d at most", answer, all, len(f.reads), most)
		}
		f.named(4711)
		for range 200 {
			f.time.SetTime(f.time.Now().Add(time.Second))
			if _, err := f.Reconcile(t.Context(), testKey); err != nil {
				t.Fatal(err)
			}
		}
		f.wantNamed(answer+", when it ends", "lost", 4711)
	}
}
