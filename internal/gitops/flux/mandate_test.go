package flux

import (
	"fmt"
	"strings"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/mandate-io/idv/api/v1alpha1"
)

// mandate waits until a Mandate is done.
func (w *world) mandate(name, what string, done func(*v1alpha1.Mandate) bool) *v1alpha1.Mandate {
	w.Helper()
	m := &v1alpha1.Mandate{}
	w.eventually(func() (bool, string) {
		err := w.Get(w.Context(), client.ObjectKey{Namespace: namespace, Name: name}, m)
		return err == nil && done(m), fmt.Sprintf("the Mandate %s is not %s: %v %+v", name, what, err, m.Status)
	})
	return m
}

// reason waits until Ready of a Mandate has a reason for its latest spec.
func (w *world) reason(name, reason string) *v1alpha1.Mandate {
	w.Helper()
	return w.mandate(name, reason, func(m *v1alpha1.Mandate) bool {
		ready := meta.FindStatusCondition(m.Status.Conditions, v1alpha1.ConditionReady)
		return ready != nil && ready.Reason == reason && m.Status.ObservedGeneration == m.Generation
	})
}

func (w *world) ready(name string) *v1alpha1.Mandate {
	w.Helper()
	return w.reason(name, v1alpha1.ReasonAccepted)
}

// patch changes the spec of a Mandate with kubectl, as a person does.
func (w *world) patch(name, spec string) {
	w.Helper()
	w.kubectl("patch", "mandate", name, "--namespace", namespace, "--type=merge", "--patch={\"spec\":"+spec+"}")
}

// gone waits until an object does not exist any more.
func (w *world) gone(object client.Object, name string) {
	w.Helper()
	w.eventually(func() (bool, string) {
		err := w.Get(w.Context(), client.ObjectKey{Namespace: namespace, Name: name}, object)
		return apierrors.IsNotFound(err), fmt.Sprintf("%T %s is there: %v", object, name, err)
	})
}

// action waits until an action has ended with a reason.
func (w *world) action(name, reason string) *v1alpha1.MandateAction {
	w.Helper()
	action := &v1alpha1.MandateAction{}
	w.eventually(func() (bool, string) {
		err := w.Get(w.Context(), client.ObjectKey{Namespace: namespace, Name: name}, action)
		complete := meta.FindStatusCondition(action.Status.Conditions, v1alpha1.ConditionComplete)
		return err == nil && complete != nil && complete.Reason == reason,
			fmt.Sprintf("the action %s has not ended as %s: %v %+v", name, reason, err, action.Status)
	})
	return action
}

// emails checks how many e-mails were sent up to now.
func (w *world) emails(want int) {
	w.Helper()
	sent, err := w.sandbox.Outbox(w.Context())
	w.check(err)
	if len(sent) != want {
		w.Errorf("%d e-mails were sent, want %d: %+v", len(sent), want, sent)
	}
}

// holdsNoPersonalData checks what Flux shows.
func (w *world) holdsNoPersonalData(where, text string) {
	w.Helper()
	for _, address := range []string{"director@acme.example", "applicant@globex.example", "tenant@initech.example"} {
		if strings.Contains(text, address) {
			w.Errorf("%s has the address %s: %s", where, address, text)
		}
	}
}
