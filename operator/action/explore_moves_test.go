package action

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/mandate-io/idv/api/v1alpha1"
)

// move is a kind of thing that can happen, and that a scenario allows a number of times.
type move int

const (
	crash    move = iota // a process dies, and another one starts
	lose                 // an answer is lost
	fail                 // a request fails, and did nothing
	refuse               // the service refuses a request
	throttle             // the service rejects a request before it looks at it, as with 429
	deny                 // it forbids a request
	accept               // it accepts a request, and carries it out later or never
	pause                // a minute passes
	hang                 // a while passes in a step, before its request or before the answer
	again                // an action is deleted, if it is there, and applied again
	other                // an action is deleted, if it is there, and another one of its name is applied
	label                // a user labels the action
	suspend              // a user suspends the Mandate, or resumes it
	replace              // a user deletes the Mandate and applies it again
	remove               // a user deletes the Mandate
	poll                 // the status of the Mandate changes
	purge                // the record is deleted
	backup               // it is backed up
	restore              // it is restored from the backup, or as it was at the beginning
	redirect             // a user points the IdentityService at another service, or back
	retarget             // the Mandate is replaced by one that has another IdentityService
	exchange             // a user puts the credentials of another account into the Secret, or the right ones again
	alias                // a user puts other credentials of the same account into the Secret, or the first ones again
	mistake              // the Secrets of two individuals are exchanged
	mislead              // the status of the Mandate shows the id of one as the other's, or the right ones again
	renumber             // the service shows an individual with another id, and the status follows
	decides              // the controller of Mandates begins a call
	moves
)

// movesLeft is how often each may still happen.
type movesLeft [moves]uint8

// names of the actions.
var names = []string{"first", "second"}

// moves finds everything that can happen next.
func (x *explorer) moves(s *state, found func(after state, wrong string)) {
	for i := range s.ops {
		if i == 0 || !x.scenario.lone {
			x.operatorMoves(s, i, found)
		}
	}
	spend := func(m move, what string, change func(*world)) {
		if s.budget[m] > 0 {
			after := s.then(what)
			after.budget[m]--
			after.world = s.world.clone()
			change(after.world)
			found(after, "")
		}
	}
	timeMoves(s, spend, found)
	for _, name := range x.scenario.actions {
		key := "MandateAction/" + name
		apply := func(w *world, change func(*v1alpha1.MandateActionSpec)) {
			if w.objects[key] != nil {
				w.remove(key)
			}
			x.scenario.apply(w, name, change)
		}
		spend(again, "a tool applies "+name+" anew", func(w *world) { apply(w, nil) })
		spend(other, "another "+name+" is applied", func(w *world) {
			apply(w, func(spec *v1alpha1.MandateActionSpec) { spec.Individual = "john" })
		})
		if s.world.objects[key] != nil {
			spend(label, "a user labels "+name, func(w *world) { w.put(w.action(name).DeepCopy()) })
		}
	}
	mandateMoves(s, spend, found)
}

func mandateMoves(s *state, spend func(move, string, func(*world)), found func(state, string)) {
	m, r := s.world.mandate(), s.world.record()
	if m != nil {
		spend(suspend, "a user edits suspend", func(w *world) {
			w.editMandate(func(m *v1alpha1.Mandate) { m.Spec.Suspend = !m.Spec.Suspend })
		})
		spend(replace, "a user deletes the Mandate and applies it again", func(w *world) { w.addMandate(services[0]) })
		spend(remove, "a user deletes the Mandate", func(w *world) { w.remove(mandateKey) })
		spend(poll, "the status of the Mandate changes", func(w *world) {
			w.editMandate(func(m *v1alpha1.Mandate) { m.Status.Progress += "1" })
		})
	}
	siteMoves(s, spend)
	if m != nil && m.Status.ApplicationID == nil {
		after := s.then("the controller of Mandates finds the application")
		after.world = s.world.clone()
		after.world.bind()
		found(after, "")
	}
	begin, end := s.world.mayDecide()
	if begin {
		spend(decides, "the controller of Mandates begins a call", (*world).decide)
	}
	if end {
		after := s.then("the controller of Mandates ends its call")
		after.world = s.world.clone()
		after.world.decide()
		found(after, "")
	}
	if r != nil {
		spend(backup, "the record is backed up", func(w *world) { w.backup = r })
		spend(purge, "the record is deleted", func(w *world) {
			w.remove(recordKey)
		})
	}
	spend(restore, "the record is restored from an old backup", (*world).restore)
}

// operatorMoves are the steps of one operator, with everything that can go wrong in them.
func (x *explorer) operatorMoves(s *state, i int, found func(state, string)) {
	o, label := s.ops[i], "operator "+string(rune('A'+i))
	if o.hangs(s.world) {
		return
	}
	try := func(name string, f fault, m move) {
		if f != faultNone && s.budget[m] == 0 {
			return
		}
		made := take(s.world, o, name, f)
		if f != faultNone && !made.hit {
			return
		}
		after := s.then(label + " " + made.what)
		after.world, after.ops[i] = made.world, made.operator
		if f != faultNone {
			after.budget[m]--
		}
		found(after, made.violation)
	}
	for _, name := range x.scenario.actions {
		if o.current != nil && o.current.action.Name != name {
			continue
		}
		try(name, faultNone, 0)
		try(name, faultError, fail)
		try(name, faultLost, lose)
		if !o.sendsNext() {
			try(name, faultSlow, hang)
		}
		try(name, faultRefused, refuse)
		try(name, faultThrottled, throttle)
		try(name, faultForbidden, deny)
		try(name, faultAccepted, accept)
		try(name, faultDeferred, accept)
	}
	if s.budget[crash] > 0 {
		after := s.then(label + " dies, and starts anew")
		after.budget[crash]--
		after.ops[i] = started(s.world)
		found(after, "")
	}
	if !o.isConnected(s.world) {
		after := s.then(label + " connects as the IdentityServices and the Secret say")
		after.ops[i] = o.connect(s.world)
		found(after, "")
	}
	for _, kind := range []string{"Mandate", "MandateAction", "IdentityService"} {
		if o.isBehind(s.world, kind) {
			after := s.then(label + " sees each " + kind + " as it is")
			after.ops[i] = o.sees(s.world, kind)
			found(after, "")
		}
	}
}

// apply applies an action from its manifest, changed by change.
func (s *scenario) apply(w *world, name string, change func(*v1alpha1.MandateActionSpec)) {
	a := &v1alpha1.MandateAction{
		ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: name},
		Spec: v1alpha1.MandateActionSpec{
			MandateRef: v1alpha1.MandateReference{Name: mandateName},
			Type:       v1alpha1.MandateActionResendInvite, Individual: "jane",
		},
		Status: v1alpha1.MandateActionStatus{ObservedGeneration: -1},
	}
	if s.manifest != nil {
		s.manifest(&a.Spec)
	}
	if change != nil {
		change(&a.Spec)
	}
	w.add(a)
}
