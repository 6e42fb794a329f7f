package cluster

import (
	"fmt"
	"strings"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/mandate-io/idv/api/v1alpha1"
	"github.com/mandate-io/idv/internal/sandbox/control"
)

// WaitForMandate waits until a Mandate is done.
func (c *Cluster) WaitForMandate(name, what string, done func(*v1alpha1.Mandate) bool) *v1alpha1.Mandate {
	c.Helper()
	m := &v1alpha1.Mandate{}
	c.Eventually(func() (bool, string) {
		err := c.Get(c.Context(), client.ObjectKey{Namespace: Namespace, Name: name}, m)
		return err == nil && done(m), fmt.Sprintf("the Mandate %s is not %s: %v %+v", name, what, err, m.Status)
	})
	return m
}

// WaitForReason waits until Ready of a Mandate has a reason for its latest spec.
func (c *Cluster) WaitForReason(name, reason string) *v1alpha1.Mandate {
	c.Helper()
	return c.WaitForMandate(name, reason, func(m *v1alpha1.Mandate) bool {
		ready := meta.FindStatusCondition(m.Status.Conditions, v1alpha1.ConditionReady)
		return ready != nil && ready.Reason == reason && m.Status.ObservedGeneration == m.Generation
	})
}

// WaitUntilReady waits until a Mandate has an application.
func (c *Cluster) WaitUntilReady(name string) *v1alpha1.Mandate {
	c.Helper()
	return c.WaitForReason(name, v1alpha1.ReasonAccepted)
}

// PatchSpec changes the spec of a Mandate with kubectl, as a person does.
func (c *Cluster) PatchSpec(name, spec string) {
	c.Helper()
	c.Kubectl("patch", "mandate", name, "--namespace", Namespace, "--type=merge", "--patch={\"spec\":"+spec+"}")
}

// Reject has the individuals of a Mandate fail, and rejects it with kubectl on the evidence that the status then shows.
func (c *Cluster) Reject(name string) {
	c.Helper()
	_, err := c.Sandbox.Play(c.Context(), control.Play{
		ApplicationID: *c.WaitUntilReady(name).Status.ApplicationID, Result: control.ResultFail,
	})
	c.Check(err)
	c.Kubectl("annotate", "mandate", name, "--namespace", Namespace, "--overwrite",
		v1alpha1.ReconcileRequestAnnotation+"=failed")
	failed := c.WaitForMandate(name, "in review", func(m *v1alpha1.Mandate) bool { return m.Status.State == "in review" })
	c.PatchSpec(name, fmt.Sprintf(`{"decision":{"outcome":"Reject","evidence":%q}}`, failed.Status.Evidence))
	c.WaitForMandate(name, "rejected", func(m *v1alpha1.Mandate) bool {
		return m.Status.Outcome == v1alpha1.OutcomeRejected
	})
}

// WaitUntilGone waits until an object does not exist any more.
func (c *Cluster) WaitUntilGone(object client.Object, name string) {
	c.Helper()
	c.Eventually(func() (bool, string) {
		err := c.Get(c.Context(), client.ObjectKey{Namespace: Namespace, Name: name}, object)
		return apierrors.IsNotFound(err), fmt.Sprintf("%T %s is there: %v", object, name, err)
	})
}

// WaitForAction waits until an action has ended with a reason.
func (c *Cluster) WaitForAction(name, reason string) *v1alpha1.MandateAction {
	c.Helper()
	action := &v1alpha1.MandateAction{}
	c.Eventually(func() (bool, string) {
		err := c.Get(c.Context(), client.ObjectKey{Namespace: Namespace, Name: name}, action)
		complete := meta.FindStatusCondition(action.Status.Conditions, v1alpha1.ConditionComplete)
		return err == nil && complete != nil && complete.Reason == reason,
			fmt.Sprintf("the action %s has not ended as %s: %v %+v", name, reason, err, action.Status)
	})
	return action
}

// ResendAction is the action of the examples.
const ResendAction = "globex-resend-2026-03-02"

// CheckEmails checks how many e-mails were sent up to now.
func (c *Cluster) CheckEmails(want int) {
	c.Helper()
	sent, err := c.Sandbox.Outbox(c.Context())
	c.Check(err)
	if len(sent) != want {
		c.Errorf("%d e-mails were sent, want %d: %+v", len(sent), want, sent)
	}
}

// CheckNoPersonalData checks what a GitOps tool shows.
func (c *Cluster) CheckNoPersonalData(where, text string) {
	c.Helper()
	for _, address := range []string{Director, Applicant, "tenant@initech.example", NoAddress} {
		if strings.Contains(text, address) {
			c.Errorf("%s has the address %s: %s", where, address, text)
		}
	}
}

// The addresses of the individuals of the examples.
const (
	Director  = "director@acme.example"
	Applicant = "applicant@globex.example"
	// NoAddress is personal data, although it is not an address.
	NoAddress = "signer.at.hooli.example"
)

// CheckSameApplication checks that another object of the same Mandate has the same application.
func (c *Cluster) CheckSameApplication(before *v1alpha1.Mandate) {
	c.Helper()
	after := c.WaitUntilReady(before.Name)
	if after.UID == before.UID {
		c.Errorf("%s is the same object", before.Name)
	}
	if *after.Status.ApplicationID != *before.Status.ApplicationID {
		c.Errorf("%s has application %d, and had %d", before.Name, *after.Status.ApplicationID, *before.Status.ApplicationID)
	}
}

// WaitUntilAllGone waits until all Mandates and the connection are deleted, and checks that the records stay.
func (c *Cluster) WaitUntilAllGone(mandates ...string) {
	c.Helper()
	for _, name := range mandates {
		c.WaitUntilGone(&v1alpha1.Mandate{}, name)
	}
	c.WaitUntilGone(&v1alpha1.IdentityService{}, "default")
	c.CheckRecordsRemain()
}

// CheckRecordsRemain checks that the namespace stays when all else is deleted, and in it the ledger and the Secrets.
func (c *Cluster) CheckRecordsRemain() {
	c.Helper()
	kept := &corev1.Namespace{}
	c.Check(c.Get(c.Context(), client.ObjectKey{Name: Namespace}, kept))
	if kept.DeletionTimestamp != nil {
		c.Error("the namespace is being deleted")
	}
	if records := c.Kubectl("get", "applicationrecords", "--namespace", Namespace, "--output=name"); records == "" {
		c.Error("the ledger is gone")
	}
}

// CheckAllRestored checks that all Mandates have their applications again, and that there are no others.
func (c *Cluster) CheckAllRestored(mandates ...string) {
	c.Helper()
	for _, name := range mandates {
		c.WaitUntilReady(name)
	}
	c.WaitForAction(ResendAction, v1alpha1.ReasonAlreadyDone)
	applications, err := c.Sandbox.Applications(c.Context())
	c.Check(err)
	if len(applications) != len(mandates) {
		c.Errorf("the service has %d applications, want %d: %+v", len(applications), len(mandates), applications)
	}
}
