package mandate

import (
	"context"
	"slices"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/mandate-io/idv/api/v1alpha1"
	idv "github.com/mandate-io/idv/internal/client"
	"github.com/mandate-io/idv/operator/engine"
)

// What was read is read again only if it can have become this Mandate's: a read may lag behind the create,
// and a number that is none today is one tomorrow.
func TestNamedApplications(t *testing.T) {
	t.Parallel()
	r := connected(NewReconciler(Config{}), scope{mandate: &v1alpha1.Mandate{
		ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: "acme"},
	}}, missingService{})
	name := func(ids, request string) {
		r.mandate.Annotations = map[string]string{
			v1alpha1.CandidateAnnotation: ids, v1alpha1.ReconcileRequestAnnotation: request,
		}
	}
	want := func(what string, ids ...int64) {
		t.Helper()
		r.creator.selectCandidates()
		if !slices.Equal(r.facts.create.candidates, ids) {
			t.Errorf("%s: %d are left, want %d", what, r.facts.create.candidates, ids)
		}
	}
	r.facts.now = now
	want("without an annotation")
	name("7, 8,x,8,-1,9", "one")
	want("the last one first", 9, 8, 7)
	r.creator.skipCandidate(9, candidateOther)
	r.creator.readCandidate(t.Context())
	want("one of another, and one that is missing", 7)
	name("7,8,9,10", "one")
	want("another one", 10, 7)
	r.facts.now = now.Add(lagAllowance)
	want("the missing one, later", 10, 8, 7)
	r.creator.skipCandidate(10, candidateOther)
	r.creator.readCandidate(t.Context())
	r.facts.now = now.Add(day)
	want("missing twice", 7)
	name("7,8,9,10", v1alpha1.NotificationRequestPrefix+"two")
	want("after another notification", 8, 7)
	name("7,8,9,10", "three")
	want("after a person's request", 10, 9, 8, 7)
	name("7,8,9,10", "one")
	r.session.Connection.Generation++
	want("at another service", 10, 9, 8, 7)
	r.facts.id = 7
	want("with an application")
}

// missingService has no applications.
type missingService struct{ ServiceClient }

func (missingService) RetrieveApplication(context.Context, int64) (*idv.Application, error) {
	return nil, failure(idv.OpRetrieveApplication, idv.Refused, idv.KindNotFound)
}

// failingService has one application, and answers for all other ids with an error.
type failingService struct {
	ServiceClient
	id    int64
	err   error
	shows idv.Application // if there is no error
	reads map[int64]int
}

func (s *failingService) RetrieveApplication(_ context.Context, id int64) (*idv.Application, error) {
	s.reads[id]++
	if s.err != nil && id != s.id {
		return nil, s.err
	}
	shown := s.shows
	shown.ID = id
	return &shown, nil
}

// liveMandate is the only object of an API server.
type liveMandate struct {
	client.Reader
	mandate *v1alpha1.Mandate
}

func (l liveMandate) Get(_ context.Context, _ client.ObjectKey, into client.Object, _ ...client.GetOption) error {
	l.mandate.DeepCopyInto(into.(*v1alpha1.Mandate))
	return nil
}

// lostMandate is one whose create had no answer.
func lostMandate() *v1alpha1.Mandate {
	return &v1alpha1.Mandate{ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: "acme"}}
}

// lost is a reconciliation of a Mandate without an application, at a time, that is to read candidates.
func lost(of *Reconciler, service ServiceClient, at time.Time, ids, request string) *reconciliation {
	return lostAs(lostMandate(), of, service, at, ids, request)
}

func lostAs(
	m *v1alpha1.Mandate, of *Reconciler, service ServiceClient, at time.Time, ids, request string,
) *reconciliation {
	m.Annotations = map[string]string{
		v1alpha1.CandidateAnnotation: ids, v1alpha1.ReconcileRequestAnnotation: request,
	}
	r := connected(of, scope{reference: "acme", mandate: m}, service)
	r.facts.now = at
	r.creator.selectCandidates()
	return r
}

// readAll reads what is left, as decide asks for.
func (r *reconciliation) readAll(ctx context.Context) {
	for len(r.facts.create.candidates) > 0 && r.facts.create.found == 0 {
		r.creator.readCandidate(ctx)
	}
}

// Whatever the service answers for one id, the next one is read. Nothing waits for the one after two tries, and it is
// read again all the same: the service may have been down.
func TestNamedApplicationsThatFail(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		err   error
		holds bool // a create waits after the first try
		stops bool // nothing else is read in the same reconciliation
		lasts bool // it is read again without another request
	}{
		"400":     {err: failure(idv.OpRetrieveApplication, idv.Refused, idv.KindInvalid)},
		"403":     {err: failure(idv.OpRetrieveApplication, idv.Refused, idv.KindCredentials)},
		"500":     {err: failure(idv.OpRetrieveApplication, idv.Unknown, idv.KindServer), holds: true, lasts: true},
		"no JSON": {err: failure(idv.OpRetrieveApplication, idv.Unknown, idv.KindUnreadable), holds: true, lasts: true},
		"timeout": {
			err: failure(idv.OpRetrieveApplication, idv.Unknown, idv.KindTimeout), holds: true, stops: true, lasts: true,
		},
	} {
		of := idv.Application{Reference: "of another"}
		service := &failingService{id: 7, err: test.err, shows: of, reads: map[int64]int{}}
		shared := NewReconciler(Config{})
		run := func(after time.Duration) *reconciliation {
			r := lost(shared, service, now.Add(after), "7,8", "one")
			r.readAll(t.Context())
			return r
		}
		r := run(0)
		if (service.reads[7] == 0) != test.stops || r.facts.create.candidatePending != test.holds {
			t.Errorf("%s: read are %v, and a create waits: %t", name, service.reads, r.facts.create.candidatePending)
		}
		if r = run(time.Second); service.reads[7] != 1 || r.facts.create.candidatePending != test.holds {
			t.Errorf("%s: read are then %v, and a create waits: %t", name, service.reads, r.facts.create.candidatePending)
		}
		r = run(lagAllowance)
		if service.reads[8] != 2 || r.facts.create.candidatePending || len(r.facts.create.candidates) > 0 {
			t.Errorf("%s: read are later %v, and a create waits: %t", name, service.reads, r.facts.create.candidatePending)
		}
		r.creator.selectCandidates()
		if next := r.creator.nextCandidate; (next > 0) != test.lasts {
			t.Errorf("%s: the next read is in %s", name, next)
		}
		service.err = nil
		run(day)
		if (service.reads[8] == 3) != test.lasts {
			t.Errorf("%s: read are %v, when it works again", name, service.reads)
		}
	}
}

// No login, no connection and no rate say anything about an id.
func TestNamedApplicationsOfAServiceThatIsDown(t *testing.T) {
	t.Parallel()
	for _, err := range []error{
		&idv.Error{Kind: idv.KindCredentials, Outcome: idv.NotSent, Login: true},
		failure(idv.OpRetrieveApplication, idv.NotSent, idv.KindUnreachable),
		failure(idv.OpRetrieveApplication, idv.NotSent, idv.KindRateLimited),
	} {
		of := idv.Application{Reference: "of another"}
		service := &failingService{id: 7, err: err, shows: of, reads: map[int64]int{}}
		shared := NewReconciler(Config{})
		for range 5 {
			r := lost(shared, service, now, "7,8", "one")
			r.readAll(t.Context())
			if !r.facts.create.candidatePending {
				t.Errorf("%v: a create follows, although the application may be this one's", err)
			}
		}
		if service.reads[8] != 5 || service.reads[7] != 0 {
			t.Errorf("%v: read are %v", err, service.reads)
		}
	}
}

// An application that is read too early shows less than it will, and one that differs may be as the spec says after an
// edit of either. Neither is another's, so it is looked for again, but not without end.
func TestNamedApplicationsThatAreNotComplete(t *testing.T) {
	t.Parallel()
	person := func(name string) v1alpha1.Individual {
		return v1alpha1.Individual{Name: name, Email: name + "@example.com", Reference: "acme." + name}
	}
	shown := func(id int64, name, email string) idv.Individual {
		return idv.Individual{ID: id, Reference: idv.Hide("acme." + name), Email: idv.Hide(email)}
	}
	jane, john := shown(1, "jane", "jane@example.com"), shown(2, "john", "john@example.com")
	former := shown(2, "john", "former@example.com")
	complete := idv.Application{Reference: "acme", Individuals: []idv.Individual{jane, john}}
	const last, notLast = "8,7", "7,8"
	notified := func(after time.Duration) string { return engine.NotificationRequest{Time: now.Add(after)}.String() }
	type look struct {
		after        time.Duration
		ids, request string
		generation   int64
	}
	for first, shows := range map[string]idv.Application{
		"an individual is not visible yet":     {Reference: "acme", Individuals: []idv.Individual{jane}},
		"the reference is not visible yet":     {Individuals: []idv.Individual{jane, john}},
		"a Secret was edited after the create": {Reference: "acme", Individuals: []idv.Individual{jane, former}},
	} {
		for why, test := range map[string]struct {
			early time.Duration // until when it is not complete
			look  look
			found bool
		}{
			"once more by itself":                    {time.Second, look{lagAllowance, last, "", 1}, true},
			"but not before its pause is over":       {time.Second, look{lagAllowance - 1, last, "", 1}, false},
			"and not a third time by itself":         {day, look{2 * day, last, "", 1}, false},
			"with a notification that names it":      {day, look{day + time.Second, last, notified(day), 1}, true},
			"with one that names another, later":     {day, look{2 * day, notLast, notified(day), 1}, true},
			"with a person's request":                {day, look{day + time.Second, notLast, "please", 1}, true},
			"after an edit, without another request": {day, look{day + time.Second, notLast, "", 2}, true},
		} {
			t.Run(first+"/"+why, func(t *testing.T) {
				t.Parallel()
				live := lostMandate()
				live.Spec.Individuals = []v1alpha1.Individual{person("jane"), person("john")}
				missing := failure(idv.OpRetrieveApplication, idv.Refused, idv.KindNotFound)
				service := &failingService{id: 7, err: missing, shows: shows, reads: map[int64]int{}}
				shared := NewReconciler(Config{Live: liveMandate{mandate: live}})
				run := func(l look) int64 {
					live.Generation = l.generation
					r := lostAs(live.DeepCopy(), shared, service, now.Add(l.after), l.ids, l.request)
					r.readAll(t.Context())
					return r.facts.create.found
				}
				for after := time.Duration(0); after < test.early; after += 10 * time.Minute {
					if run(look{after, test.look.ids, "", 1}) != 0 {
						t.Fatal("it is bound although it is not the Mandate's, for all that is known")
					}
				}
				if most := 2; service.reads[7] > most {
					t.Errorf("it is read %d times without a request, want %d at most", service.reads[7], most)
				}
				service.shows = complete
				if found := run(test.look) != 0; found != test.found {
					t.Errorf("it is found: %t, want %t", found, test.found)
				}
			})
		}
	}
}

// The id that the answer to the create has shown is read for a day, with longer pauses: the service creates later.
func TestOwnCandidateIsReadForADay(t *testing.T) {
	t.Parallel()
	missing := failure(idv.OpRetrieveApplication, idv.Refused, idv.KindNotFound)
	service := &failingService{id: 7, err: missing, reads: map[int64]int{}}
	shared := NewReconciler(Config{})
	var last time.Duration
	for after := time.Duration(0); after < 2*day; after += time.Minute {
		r := lost(shared, service, now.Add(after), "8", "")
		r.facts.record = recordFacts{result: v1alpha1.CallAccepted, firstStarted: now, candidate: 7}
		r.creator.selectCandidates()
		before := service.reads[7]
		r.readAll(t.Context())
		if service.reads[7] > before {
			last = after
		}
	}
	if most, least := 40, 24; service.reads[7] > most || service.reads[7] < least {
		t.Errorf("it is read %d times, want %d to %d", service.reads[7], least, most)
	}
	if last < day-time.Hour || last > day+time.Hour {
		t.Errorf("it is last read after %s", last)
	}
}
