package mandate

import (
	"maps"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/mandate-io/idv/api/v1alpha1"
	"github.com/mandate-io/idv/internal/receiver"
	"github.com/mandate-io/idv/internal/test/explore"
	"github.com/mandate-io/idv/operator/engine"
)

// scenario is the first state of an exploration, and what may happen in it.
type scenario struct {
	why      string
	mandates []string
	// manifest changes the usual one.
	manifest func(*v1alpha1.Mandate)
	allow    map[move]uint8
	// deep: so many times as many states are explored, and all of them brought to rest, because what the scenario is for
	// comes late, or shows only then. TestGuardsAreNeeded tells if that is too few. 0: as many, and some are.
	deep int64
	// racy: the service looks a reference up and inserts it later, so that two creates at the same time both succeed.
	racy bool
	// lone: there is one operator.
	lone bool
	// checks: the application exists and was read, and its individual has a check. keepsChecks: with the same id after a
	// reset.
	checks, keepsChecks bool
	// exists: the application exists and was read.
	exists bool
	// inReview: the application exists and was read, and is in review.
	inReview bool
	// completed: it exists, was read, and has its outcome.
	completed bool
	// accepted: the service has accepted a decision about other checks.
	accepted bool
	// silent: the service shows no references.
	silent bool
	// refusesOthers: it answers 403 or 500 to reads of what is nobody's application.
	refusesOthers bool
	// otherEmpty: the other service answers 404 to everything that it is asked for.
	otherEmpty bool
	// subscribes: the operator subscribes each application, and the service shows subscriptions like that.
	subscribes bool
	webhooks   webhookPresentation
	// namespaced: referencePolicy is Namespaced.
	namespaced bool
}

func (s scenario) start() state {
	w := newWorld()
	w.changeSite(firstURL, func(here *site) {
		here.checks, here.keepsChecks = s.checks, s.keepsChecks
		switch {
		case s.inReview:
			here.stage = stageInReview
		case s.completed:
			here.stage = stageCompleted
		}
	})
	for _, url := range sorted(w.sites) {
		w.changeSite(url, func(here *site) { here.silent, here.refusesOthers = s.silent, s.refusesOthers })
	}
	if s.silent { // or else it would show that it is another's
		w.changeSite(exchangedSite, func(here *site) {
			here.applications = append(here.applications,
				application{id: 2, reference: "unrelated", created: now, stage: stageInReview})
		})
	}
	if s.otherEmpty {
		w.changeSite(otherURL, func(here *site) { here.applications = nil })
	}
	w.namespaced = s.namespaced
	if s.subscribes {
		w.service.Spec.Notifications = subscribesApplications.DeepCopy()
		w.service.Status.Notifications = &v1alpha1.NotificationsStatus{
			TokenDigests: []string{receiver.Digest(receiverToken)},
		}
		for _, url := range sorted(w.sites) {
			w.changeSite(url, func(here *site) { here.webhooks = s.webhooks })
		}
	}
	for _, name := range s.mandates {
		w.apply(name, s.manifest)
	}
	if s.checks || s.exists || s.inReview || s.completed {
		w = s.settled(w)
	}
	if s.accepted {
		w.accept(s.mandates[0])
	}
	first := state{world: w, ops: [2]*operator{started(w), started(w)}, via: explore.NewTrace("the Mandate is applied")}
	for m, n := range s.allow {
		first.budget[m] = n
	}
	return first
}

// settled is the world after the first reconciliation.
func (s scenario) settled(w *world) *world {
	o := started(w)
	for range engine.MaxSteps {
		made := take(w, o, s.mandates[0], faultNone)
		w, o = made.world, made.operator
		if made.ended {
			return w
		}
	}
	panic("the first reconciliation does not come to an end")
}

var one, two = []string{"acme"}, []string{"acme", "copy"}

// inTwoNamespaces gives the Mandates acme and copy one reference, and a ClusterIdentityService.
func inTwoNamespaces(m *v1alpha1.Mandate) {
	m.Spec.Reference = namespace + ".acme"
	m.Spec.ServiceRef.Kind = v1alpha1.ServiceKindClusterIdentityService
	if m.Name == "copy" {
		m.Namespace = otherNamespace
	}
}

// withJohn adds an individual with details in a Secret.
func withJohn(m *v1alpha1.Mandate) {
	m.Spec.Individuals[0].Reference = "person-1"
	john := v1alpha1.Individual{Name: "john", DetailsSecretRef: &v1alpha1.SecretReference{Name: "john"}}
	m.Spec.Individuals = append(m.Spec.Individuals, john)
}

// scenarios together allow everything that is known to happen; each allows what makes the others harder to bear.
func scenarios() map[string]scenario {
	all := map[string]scenario{
		"crashes and lost answers": {
			mandates: one, deep: 2, allow: map[move]uint8{crash: 1, lose: 1, half: 2},
		},
		"two operators find a lost attempt": {
			why:      "of two that find an attempt without an end, one takes it over",
			mandates: one, deep: 7, allow: map[move]uint8{half: 2},
		},
		"refusals that may pass": {
			why:      "the request is sent again later, unless somebody has edited the spec since",
			mandates: one, allow: map[move]uint8{deny: 2, lose: 1, half: 1, confirm: 2, reword: 1, crash: 1, succeed: 1},
		},
		"answers without a proof": {
			mandates: one, allow: map[move]uint8{imply: 2, lose: 1, half: 2, aDay: 1, crash: 1, reword: 1, succeed: 1},
		},
		"answers without a proof, and no references are shown": {
			mandates: one, silent: true, allow: map[move]uint8{imply: 2, half: 1, aDay: 1, crash: 1, fail: 1},
		},
		"answers that come late": {
			why:      "the service does not keep two creates at the same time apart",
			mandates: one, allow: map[move]uint8{lose: 2, half: 3, crash: 1}, racy: true,
		},
		"edits": {
			mandates: one, allow: map[move]uint8{reword: 1, touch: 1, lose: 1, half: 2, refuse: 1},
		},
		"deletion and another Mandate of the name": {
			mandates: one, allow: map[move]uint8{replace: 2, lose: 1, half: 2, crash: 1},
		},
		"another Mandate of the name with another reference": {
			mandates: one, allow: map[move]uint8{succeed: 1, lose: 1, half: 2, touch: 1},
		},
		"notifications": {
			why:      "they name the application, others, and none, in any sequence",
			mandates: one, allow: map[move]uint8{deliver: 3, lose: 2, half: 2, crash: 1},
		},
		"notifications and another Mandate of the name": {
			mandates: one, deep: 1, allow: map[move]uint8{deliver: 1, another: 1, present: 1, lose: 1, half: 2},
		},
		"notifications to two Mandates of one reference": {
			mandates: []string{"acme", "beta"}, manifest: func(m *v1alpha1.Mandate) { m.Spec.Reference = "shared" },
			allow: map[move]uint8{deliver: 3, lose: 2, half: 2, remove: 1},
		},
		"notifications to another Mandate": {
			why:      "one that has no reference may be given to any that waits",
			mandates: []string{"acme", "beta"}, allow: map[move]uint8{deliver: 2, lose: 2, half: 3},
		},
		"notifications to two namespaces": {
			mandates: two, manifest: inTwoNamespaces, namespaced: true, deep: 2,
			allow: map[move]uint8{deliver: 2, wipe: 1, lose: 1, half: 2},
		},
		"notifications and another account": {
			mandates: one, allow: map[move]uint8{deliver: 2, point: 2, lose: 1, half: 2},
		},
		"notifications and edits": {
			mandates: one,
			allow:    map[move]uint8{deliver: 2, reword: 1, touch: 1, prefix: 1, adopt: 1, lose: 1, half: 2},
		},
		"notifications to an edited Mandate": {
			why:      "what was sent is what the spec asks for after the edit",
			mandates: one, allow: map[move]uint8{deliver: 1, touch: 1, lose: 1},
		},
		"notifications and restores": {
			mandates: one, allow: map[move]uint8{deliver: 2, restore: 1, backup: 1, rewind: 1, wipe: 1, lose: 1, half: 1},
		},
		"notifications after eight weeks": {
			mandates: one, allow: map[move]uint8{deliver: 2, lose: 1, half: 1, weeks: 1, days: 2, expire: 1},
		},
		"notifications of a service that fails": {
			mandates: one, allow: map[move]uint8{deliver: 2, lose: 1, half: 2, fail: 2, refuse: 1, unread: 1},
		},
		"notifications, and what others have cannot be read": {
			why:      "one that the service answers 403 or 500 for must not keep the others from being read",
			mandates: one, refusesOthers: true, allow: map[move]uint8{deliver: 3, lose: 2, half: 3},
		},
		"notifications, and no references are shown": {
			mandates: one, silent: true, allow: map[move]uint8{deliver: 2, lose: 1, half: 2, crash: 1},
		},
		"two Mandates want one reference": {
			mandates: []string{"acme", "beta"}, manifest: func(m *v1alpha1.Mandate) { m.Spec.Reference = "shared" },
			allow: map[move]uint8{lose: 1, half: 2, reword: 1, remove: 1},
		},
		"applied again with an edit": {
			why:      "of the reference, the prefix or the service",
			mandates: one, allow: map[move]uint8{succeed: 1, replace: 1, prefix: 1, point: 1, lose: 1, half: 2},
		},
		"applied again with an edit, and no references are shown": {
			mandates: one, silent: true, allow: map[move]uint8{succeed: 1, replace: 1, prefix: 1, lose: 1, half: 2},
		},
		"two Mandates adopt one application": {
			mandates: []string{"acme", "beta"}, manifest: func(m *v1alpha1.Mandate) { m.Spec.Reference = "shared" },
			deep: 1, allow: map[move]uint8{adopt: 2, remove: 1, replace: 1, lose: 1, half: 1},
		},
		"another namespace's copy": {
			mandates: []string{"acme", "copy"},
			manifest: func(m *v1alpha1.Mandate) {
				m.Spec.Reference = "shared"
				if m.Name == "copy" {
					m.Namespace = otherNamespace
				}
			},
			allow: map[move]uint8{replace: 1, reword: 1, lose: 1, half: 2, crash: 1},
		},
		"another namespace adopts": {
			why:      "what the ledger says of it, or a lost answer leaves open, belongs to the other namespace",
			mandates: two, manifest: inTwoNamespaces, allow: map[move]uint8{adopt: 1, remove: 1, lose: 1, half: 1},
		},
		"another namespace's reference": {
			why:      "it is the other namespace's, whatever the ledger has lost",
			mandates: two, manifest: inTwoNamespaces, namespaced: true, deep: 2,
			allow: map[move]uint8{adopt: 1, wipe: 1, remove: 1, lose: 1, half: 1},
		},
		"eight weeks": {
			mandates: one, deep: 4, allow: map[move]uint8{lose: 1, half: 2, weeks: 1, days: 2, expire: 1, crash: 1},
		},
		"adoption": {
			mandates: one, allow: map[move]uint8{adopt: 2, lose: 1, half: 2},
		},
		"another account": {
			mandates: one, allow: map[move]uint8{point: 2, lose: 1, half: 2},
		},
		"another account, and something to do there": {
			why:      "which has an unrelated application with the same id",
			mandates: one, manifest: func(m *v1alpha1.Mandate) { m.Spec.Archived = true },
			allow: map[move]uint8{point: 2, lose: 1, confirm: 1},
		},
		"another service, which has no application": {
			mandates: one, exists: true, otherEmpty: true, allow: map[move]uint8{point: 2, confirm: 2, aDay: 1, crash: 1},
		},
		"exchanged credentials": {
			why:      "the other account answers 404 to everything that it is asked for",
			mandates: one, exists: true, allow: map[move]uint8{exchange: 2, confirm: 2, aDay: 1, purge: 1, crash: 1},
		},
		"the same user, with other applications": {
			why:      "nothing tells that it is another account, as after a change of what is behind the URL",
			mandates: one, exists: true, deep: 2, allow: map[move]uint8{swap: 2, confirm: 2, aDay: 1, purge: 1, crash: 1},
		},
		"exchanged credentials and lost answers": {
			why:      "in the other account, the reference is free",
			mandates: one, allow: map[move]uint8{exchange: 2, lose: 2, half: 3, crash: 1, replace: 1},
		},
		"exchanged credentials and refusals": {
			why:      "what certainly was not created, the other account may create",
			mandates: one, allow: map[move]uint8{exchange: 2, refuse: 1, deny: 1, lose: 1, half: 2},
		},
		"exchanged credentials, notifications and adoption": {
			mandates: one, allow: map[move]uint8{exchange: 2, deliver: 2, adopt: 1, lose: 1, half: 2},
		},
		"exchanged credentials, and something to do": {
			why:      "the other account has an application with the same id, and shows no references",
			mandates: one, inReview: true, silent: true, allow: map[move]uint8{exchange: 2, choose: 1, shelve: 1, confirm: 1},
		},
		"exchanged credentials and deletionPolicy Delete": {
			mandates: one, manifest: func(m *v1alpha1.Mandate) { m.Spec.DeletionPolicy = v1alpha1.DeletionPolicyDelete },
			allow: map[move]uint8{exchange: 2, remove: 1, lose: 1, half: 2, confirm: 1},
		},
		"another name of the account": {
			mandates: one, exists: true, allow: map[move]uint8{alias: 2, choose: 1, purge: 1, confirm: 2, crash: 1},
		},
		"another name of the account and lost answers": {
			mandates: one, allow: map[move]uint8{alias: 2, lose: 2, half: 3, crash: 1},
		},
		"another referencePrefix": {
			mandates: one, allow: map[move]uint8{prefix: 1, replace: 2, lose: 1, half: 2},
		},
		"restore of the Mandates": {
			mandates: one, allow: map[move]uint8{restore: 1, lose: 1, half: 2, weeks: 1, days: 2, expire: 1},
		},
		"restore of an older backup": {
			why: "without createBefore, and after the service has forgotten the reference, nothing would show the " +
				"first e-mail",
			mandates: one,
			allow:    map[move]uint8{backup: 1, rewind: 1, wipe: 1, lose: 1, half: 2},
		},
		"a person says that nothing was created": {
			why:      "then another reference, or another account, may have it",
			mandates: one, allow: map[move]uint8{vouch: 2, lose: 2, half: 3, reword: 1, exchange: 1, crash: 1},
		},
		"records made anew by a tool": {
			mandates: one,
			allow: map[move]uint8{
				backup: 1, reinstate: 1, attest: 1, deny: 1, aDay: 1, purge: 1, lose: 1, half: 2,
			},
		},
		"restore after eight weeks": {
			mandates: one, deep: 4,
			manifest: func(m *v1alpha1.Mandate) { m.Spec.CreateBefore = new(metav1.NewTime(now.Add(24 * time.Hour))) },
			allow:    map[move]uint8{backup: 1, rewind: 1, wipe: 1, lose: 1, weeks: 1, days: 2, expire: 1},
		},
		"restore into an empty cluster": {
			why:      "the first attempt there is rejected because the reference is taken",
			mandates: one, allow: map[move]uint8{wipe: 1, weeks: 1, days: 1, expire: 1},
		},
		"missing applications": {
			mandates: one, allow: map[move]uint8{purge: 1, confirm: 2, lose: 2, fail: 1},
		},
		"an API server that refuses records": {
			mandates: one, allow: map[move]uint8{fail: 3, refuse: 1, replace: 1, crash: 1, half: 1},
		},
		"reviews and resets": {
			mandates: one, checks: true,
			allow: map[move]uint8{assess: 2, retract: 1, reset: 2, lose: 1, crash: 1, fail: 1, refuse: 1},
		},
		"reviews and resets that keep the ids of checks": {
			why:      "a reset between the last read and the request cannot be told then, so there is one operator",
			mandates: one, checks: true, keepsChecks: true, lone: true,
			allow: map[move]uint8{assess: 2, retract: 1, reset: 2, lose: 1, crash: 1, fail: 1},
		},
		"resets by actions": {
			why:      "what the service shows stays as it was, so only the record tells, of which the operator is told",
			mandates: one, checks: true, lone: true,
			allow: map[move]uint8{act: 2, assess: 1, reset: 1, lose: 1, crash: 1, fail: 1},
		},
		"two operators send a review": {
			mandates: one, checks: true, allow: map[move]uint8{assess: 1, reset: 1},
		},
		"reviews and a restore": {
			mandates: one, checks: true, allow: map[move]uint8{assess: 1, reset: 2, restore: 1, lose: 1, crash: 1},
		},
		"individuals": {
			mandates: one, manifest: withJohn,
			allow: map[move]uint8{present: 2, hide: 2, unread: 1, crash: 1, lose: 1, half: 1},
		},
		"reviews and individuals": {
			mandates: one, manifest: withJohn, checks: true,
			allow: map[move]uint8{present: 2, hide: 1, unread: 1, crash: 1, assess: 1, reset: 1},
		},
		"another Mandate of the name for another person": {
			mandates: one, allow: map[move]uint8{another: 2, touch: 1, lose: 1, half: 2, crash: 1, unread: 1},
		},
		"another Mandate of the name for another person, whom the service does not show": {
			mandates: one, allow: map[move]uint8{another: 2, present: 1, lose: 1, half: 2, crash: 1},
		},
		"another Mandate of the name for another person, after an adoption": {
			mandates: one, exists: true, allow: map[move]uint8{wipe: 1, adopt: 1, another: 1},
		},
		"erased individuals": {
			why:      "the spec says nobody to e-mail any more, whatever is lost later",
			mandates: one, completed: true, allow: map[move]uint8{erase: 1, succeed: 1, wipe: 1, lose: 1, crash: 1},
		},
		"decisions": {
			mandates: one, inReview: true,
			allow: map[move]uint8{choose: 2, halt: 1, lose: 1, crash: 1, refuse: 1},
		},
		"time within a reconciliation": {
			why:      "the API server is slow, or the process is stopped between two steps",
			mandates: one, allow: map[move]uint8{hang: 3, half: 2, touch: 1},
		},
		"time within a decision": {
			mandates: one, inReview: true, allow: map[move]uint8{choose: 1, halt: 1, hang: 3, half: 2},
		},
		"decisions that the service accepts": {
			why:      "it carries them out later, or never, and none is sent again",
			mandates: one, inReview: true,
			allow: map[move]uint8{choose: 2, imply: 2, lose: 1, crash: 1, half: 1, confirm: 1},
		},
		"decisions and resets without an answer": {
			why:      "the author has looked after the reset was sent, and the service carries it out later, or never",
			mandates: one, inReview: true, checks: true, lone: true,
			allow: map[move]uint8{act: 1, choose: 2, crash: 1},
		},
		"decisions after one that the service has accepted": {
			why:      "it was about other checks, and the service carries it out later, or never",
			mandates: one, inReview: true, checks: true, accepted: true, lone: true, deep: 1,
			allow: map[move]uint8{choose: 2, checkPass: 1, reset: 1, confirm: 3, crash: 1},
		},
		"deletions and archivings that the service accepts": {
			mandates: one, inReview: true,
			manifest: func(m *v1alpha1.Mandate) { m.Spec.DeletionPolicy = v1alpha1.DeletionPolicyDelete },
			allow:    map[move]uint8{shelve: 1, remove: 1, imply: 2, lose: 1, crash: 1, half: 1},
		},
		"decisions, archiving and reviews": {
			why:      "the spec asks for several calls, of which a reconciliation makes one",
			mandates: one, inReview: true, checks: true,
			allow: map[move]uint8{choose: 1, shelve: 1, assess: 1, retract: 1, halt: 1, refuse: 1, lose: 1},
		},
		"decisions and resets": {
			why:      "a decision is about the checks that its author has seen, or on which its rule holds",
			mandates: one, inReview: true, checks: true, lone: true,
			allow: map[move]uint8{choose: 2, reset: 1, assess: 1, confirm: 1, crash: 1},
		},
		"decisions and checks that pass": {
			why:      "that a check came to what a review asks for does not say that the review was carried out",
			mandates: one, inReview: true, checks: true, lone: true,
			allow: map[move]uint8{choose: 1, assess: 1, checkPass: 1, reset: 1, refuse: 1, lose: 1, fail: 1},
		},
		"decisions and checks that pass, with the ids of checks kept": {
			mandates: one, inReview: true, checks: true, keepsChecks: true, lone: true,
			allow: map[move]uint8{choose: 1, assess: 1, checkPass: 1, reset: 1, refuse: 1, lose: 1},
		},
		"decisions and another account": {
			mandates: one, inReview: true, allow: map[move]uint8{choose: 2, shelve: 1, point: 1, fail: 1},
		},
		"decisions and another Mandate of the name": {
			mandates: one, inReview: true, allow: map[move]uint8{choose: 1, shelve: 1, replace: 1, remove: 1, lose: 1},
		},
		"a decision and another Mandate of the name": { // which has as many edits
			mandates: one, inReview: true, lone: true, allow: map[move]uint8{choose: 1, shelve: 1, replace: 1},
		},
		"edits of deletionPolicy": {
			mandates: one, inReview: true,
			manifest: func(m *v1alpha1.Mandate) { m.Spec.DeletionPolicy = v1alpha1.DeletionPolicyDelete },
			allow:    map[move]uint8{repolicy: 2, remove: 1, halt: 1, lose: 1, crash: 1, refuse: 1},
		},
		"deletionPolicy Delete": {
			mandates: one, manifest: func(m *v1alpha1.Mandate) { m.Spec.DeletionPolicy = v1alpha1.DeletionPolicyDelete },
			allow: map[move]uint8{remove: 1, lose: 1, half: 1, crash: 1, point: 1},
		},
	}
	maps.Copy(all, subscriptionScenarios())
	for _, name := range sorted(all) {
		alone := all[name]
		if alone.lone {
			continue
		}
		alone.lone = true
		all["alone: "+name] = alone
	}
	return all
}
