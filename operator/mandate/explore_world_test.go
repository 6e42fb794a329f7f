package mandate

import (
	"maps"
	"slices"
	"strconv"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/mandate-io/idv/api/v1alpha1"
	"github.com/mandate-io/idv/operator/connection"
)

// The explorer runs the real decide, the real steps of a reconciliation and the real ledger against a world in memory,
// and tries everything that two operators, their environment and their users can do, in every sequence. A state has
// three parts, the world and two operators, each of which never changes once it is part of a state.
//
// The time is always `now`. What is called the passing of time makes everything older instead, so that two states
// that differ in the date alone are the same.

// world is what the operators share: the API server's objects and the service. Objects in it are replaced, never
// changed.
type world struct {
	mandates map[string]*v1alpha1.Mandate
	records  map[string]*v1alpha1.ApplicationRecord
	service  *v1alpha1.IdentityService
	backup   map[string]*v1alpha1.ApplicationRecord // the records of an older etcd snapshot; nil if there is none
	revision int
	uids     int
	nonces   int
	// sites are the accounts that the IdentityService can lead to, by its base URL.
	sites map[string]site
	// credentials are those that the Secret has: the zero value, those of another account, or the same by another name.
	credentials [32]byte
	// proofs are the status.sameAccounts of the service. unconfirmed is the account that has to show an application first,
	// "" if none has to, and trusted the last one that had not, or has.
	proofs               []v1alpha1.SameAccount
	trusted, unconfirmed connection.Account
	// forgotten means that a restore lost records: violations that they would prevent are none.
	forgotten bool
	// outdated has the Mandates whose record was claimed, last, for a spec or a service that had been replaced.
	outdated map[string]bool
	// reviews of a scenario with checks: those that a user put into the spec, one after the other.
	reviews []userReview
	// shown is what the evidence that decisions name is of: the checks as the status showed them.
	shown map[string]string
	// secretGone: the Secret with john's details was deleted.
	secretGone bool
	// namespaced: the service is a ClusterIdentityService whose referencePolicy is Namespaced.
	namespaced bool
}

// userReview is a review that a user put into spec.checkReviews.
type userReview struct {
	since int64 // the generation that has it
	seen  int   // the round of checks that the status showed then; 0: none
	sent  int   // the round that it decided; 0: none
}

// site is an account at the service.
type site struct {
	applications []application
	underWay     []request
	accepted     []acceptedChange
	nextID       int64
	silent       bool // it shows no references
	// refusesOthers: it answers 403 to reads of the foreign application, and 500 to those of one that does not exist.
	refusesOthers bool
	// webhooks is how it shows subscriptions.
	webhooks    webhookPresentation
	shown       presentation
	stage       string // of applications from the start
	checks      bool   // they have a check
	keepsChecks bool   // which has the same id after a reset
}

// application is at the service, or was: what was e-mailed stays so when the application is gone.
type application struct {
	id        int64
	reference string
	created   time.Time
	stage     string // its state; "": created
	archived  bool
	gone      bool
	people    []person
	check     int64  // the id of the first individual's check, and checksApart more is the next one's; 0: there is none
	state     string // of the check
	round     int    // how often the check began, once and with each reset
	// reviewed is the evidence of the last review that an operator has sent in this round, and before is the state that
	// the check had then.
	reviewed, before string
	resetting        bool // a reset was sent that may still be carried out
	// subscriptions are how many it has, and subscribing how many more requests may still make one.
	subscriptions int
	subscribing   []time.Time // when they were sent
	// What the service does not know, but the invariants need.
	mandate types.UID // of the Mandate that it was created for, "" if a person made it
	name    string    // of that Mandate
	learned bool      // an operator got the answer
	excused bool      // it has died since, or a restore removed its evidence
}

// person is an individual of an application: those of the spec, in its sequence.
type person struct{ reference, email string }

// checksApart is between the ids of the checks of two individuals, and of their rounds.
const checksApart = 50

// presentation is how a service shows individuals.
type presentation int

const (
	showsAll presentation = iota
	showsReversed
	showsWithoutReferences // nor e-mail addresses, in the sequence of the spec
	showsLast
	presentations
)

// request is a create that the service will carry out or not, and whose caller has given up or died.
type request struct {
	reference string
	people    []person
	mandate   types.UID
	name      string
	sent      time.Time
	checked   bool // the reference was free when it was looked up; only with scenario.racy
}

const (
	namespace = "team"
	// otherNamespace has Mandates of other names, because the world has everything by name.
	otherNamespace = "other"
	firstURL       = "https://idv.example.com"
	otherURL       = "https://other.example.com"
	// foreignID is an application that a user created, with the reference foreignReference.
	foreignID        = 1
	foreignReference = "created-by-user"
	settle           = 90 * time.Second
	// maxRequestTime is how long the service may take for a request: less than half of the settle delay, as its flag
	// demands.
	maxRequestTime = 44 * time.Second
	minPoll        = 30 * time.Second
)

// newWorld is the world in which nothing has happened yet.
func newWorld(names ...string) *world {
	w := &world{
		mandates: map[string]*v1alpha1.Mandate{},
		records:  map[string]*v1alpha1.ApplicationRecord{},
		sites:    map[string]site{},
		outdated: map[string]bool{},
	}
	w.service = &v1alpha1.IdentityService{
		ObjectMeta: metav1.ObjectMeta{
			Namespace:         namespace,
			Name:              "default",
			UID:               "service",
			Generation:        1,
			CreationTimestamp: metav1.NewTime(now.Add(-time.Hour)),
		},
		Spec: v1alpha1.IdentityServiceSpec{ServiceSettings: v1alpha1.ServiceSettings{BaseURL: firstURL}},
	}
	foreign := application{id: foreignID, reference: foreignReference, created: now}
	w.sites[firstURL] = site{nextID: 2, applications: []application{foreign}}
	w.sites[otherURL] = site{
		nextID:       3,
		applications: []application{foreign, {id: 2, reference: "unrelated", created: now}},
	}
	for _, name := range names {
		w.apply(name, nil)
	}
	w.sites[exchangedSite] = site{nextID: 7, applications: []application{foreign}}
	w.trusted = w.account()
	return w
}

func (w *world) clone() *world {
	c := *w
	c.mandates = maps.Clone(w.mandates)
	c.records = maps.Clone(w.records)
	c.sites = maps.Clone(w.sites)
	c.reviews = slices.Clone(w.reviews)
	c.outdated = maps.Clone(w.outdated)
	return &c
}

// apply creates a Mandate from its manifest, changed by change.
func (w *world) apply(name string, change func(*v1alpha1.Mandate)) {
	w.uids++
	m := &v1alpha1.Mandate{
		ObjectMeta: metav1.ObjectMeta{
			Namespace:         namespace,
			Name:              name,
			UID:               types.UID("mandate-" + strconv.Itoa(w.uids)),
			Generation:        1,
			CreationTimestamp: metav1.NewTime(now),
		},
		Spec: v1alpha1.MandateSpec{
			ServiceRef: v1alpha1.IdentityServiceReference{
				Name: "default",
			},
			MandateType: v1alpha1.MandateTypeSelector{ID: new(int64(17))},
			Individuals: []v1alpha1.Individual{
				{Name: "jane", Email: "jane@example.com"},
			},
			DeletionPolicy: v1alpha1.DeletionPolicyRetain,
		},
		Status: v1alpha1.MandateStatus{ObservedGeneration: -1},
	}
	if change != nil {
		change(m)
	}
	w.store(m)
}

func (w *world) version() string {
	w.revision++
	return strconv.Itoa(w.revision)
}

func (w *world) store(m *v1alpha1.Mandate) {
	m.ResourceVersion = w.version()
	w.mandates[m.Name] = m
}

// edit changes the spec of a Mandate as a user does.
func (w *world) edit(name string, change func(*v1alpha1.MandateSpec)) {
	m := w.mandates[name].DeepCopy()
	change(&m.Spec)
	m.Generation++
	w.store(m)
}

func (w *world) url() string { return w.service.Spec.BaseURL }

// site is the account that the IdentityService and its Secret lead to.
func (w *world) site() string { return siteOf(w.url(), w.credentials) }

// exchangedSite is the account of other credentials at the first URL.
const exchangedSite = "the account of other credentials"

func siteOf(url string, credentials [32]byte) string {
	if url == firstURL && (credentials == ofAnotherAccount || credentials == inAnotherPlace) {
		return exchangedSite
	}
	return url
}

// Credentials beside the first ones. Those inAnotherPlace have the same user name, with other applications.
var (
	ofAnotherAccount = [32]byte{1}
	byAnotherName    = [32]byte{2}
	inAnotherPlace   = [32]byte{3}
)

// exchange puts other credentials into the Secret, or the first ones again.
func (w *world) exchange(to [32]byte) {
	if w.credentials == to {
		to = [32]byte{}
	}
	w.credentials = to
	w.accountChanges()
}

// changeSite replaces the account behind a URL by a changed copy.
func (w *world) changeSite(url string, change func(*site)) {
	s := w.sites[url]
	s.applications, s.underWay = slices.Clone(s.applications), slices.Clone(s.underWay)
	change(&s)
	w.sites[url] = s
}

// find gives the index of the application that the service shows under an id, -1 if there is none.
func (s *site) find(id int64) int {
	return slices.IndexFunc(s.applications, func(a application) bool { return a.id == id && !a.gone })
}

func (s *site) has(reference string) bool {
	return slices.ContainsFunc(s.applications, func(a application) bool { return a.reference == reference && !a.gone })
}

// create makes an application, and e-mails.
func (s *site) create(r request) *application {
	s.applications = append(s.applications, application{
		id: s.nextID, reference: r.reference, people: r.people, created: now, mandate: r.mandate, name: r.name,
		stage: s.stage,
	})
	s.nextID++
	if s.checks {
		s.applications[len(s.applications)-1].startRound(100 * s.nextID)
	}
	return &s.applications[len(s.applications)-1]
}

// startRound makes a check that nobody has decided. Its state is another one in each round: while the answer to a
// review is lost, nobody can tell a reset from none that leaves the id and the state as they were.
func (a *application) startRound(check int64) {
	a.check, a.state = check, checkInReview
	a.reviewed, a.before = "", ""
	a.resetting = false
	a.round++
	if a.round > 1 {
		a.state = checkReset + strconv.Itoa(a.round)
	}
}

// The states of an application. All but the first can be decided no more.
const (
	stageInReview  = "in review"
	stageCompleted = "completed"
	stageRejected  = "rejected"
)

const (
	checkInReview = "in_review"
	checkReset    = "pending"
	checkPassed   = "passed"
)

// operator is one process: what its caches show, what it remembers, and the reconciliation that it is in.
type operator struct {
	mandates   map[string]*v1alpha1.Mandate
	service    *v1alpha1.IdentityService
	connection connection.Connection
	localState remembered
	missing    map[types.NamespacedName]missingApplication
	subscribed map[connection.Account]subscribedApplication
	current    *reconciliation // nil: between two reconciliations
	live       liveRead        // by its last step
	calls      int             // that act on people, sent by it
	// decided is when it decided what it does next, if time has passed since, and answered when the answer to its last
	// request comes, if that is slow.
	decided, answered time.Time
}

// remembered is the local state of a process, by the name and UID of the Mandate.
type remembered = map[types.NamespacedName]struct {
	UID   types.UID
	Value localState
}

// started is an operator that has just started, with filled caches.
func started(w *world) *operator {
	o := &operator{localState: remembered{}}
	o.seeEverything(w)
	return o
}

// seeEverything lets all caches catch up.
func (o *operator) seeEverything(w *world) {
	o.seeMandates(w)
	o.seeService(w)
	o.connect(w)
}

// seeMandates lets the cache catch up. It has no personal data, as in the operator.
func (o *operator) seeMandates(w *world) {
	o.mandates = map[string]*v1alpha1.Mandate{}
	for name, m := range w.mandates {
		stripped := m.DeepCopy()
		for i := range stripped.Spec.Individuals {
			individual := &stripped.Spec.Individuals[i]
			*individual = v1alpha1.Individual{
				Name: individual.Name, DetailsSecretRef: individual.DetailsSecretRef, Erased: individual.Erased,
			}
		}
		o.mandates[name] = stripped
	}
}

// seeService lets the cache catch up.
func (o *operator) seeService(w *world) { o.service = w.service }

// connect makes the connection from what the cache has, as the controller of IdentityServices does.
func (o *operator) connect(w *world) {
	account := accountWith(o.service.Spec.BaseURL, w.credentials)
	state := connection.AccountConfirmed
	if account == w.account() {
		state = w.accountState()
	}
	o.connection = connection.Connection{
		URL:             o.service.Spec.BaseURL,
		Credentials:     w.credentials,
		Account:         account,
		SameAccounts:    connection.SameAccounts(account, w.proofs),
		AccountState:    state,
		ReferencePrefix: o.service.Spec.ReferencePrefix,
		UID:             o.service.UID,
		Generation:      o.service.Generation,
		MinPoll:         minPoll,
		MaxPoll:         time.Hour,
		Ready:           true,

		NamespacedReferences: w.namespaced,
		Subscriptions:        connection.SubscriptionsOf(o.service),
	}
}
