package operator_test

import (
	"errors"
	"testing"

	authorizationv1 "k8s.io/api/authorization/v1"
	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/mandate-io/idv/api/v1alpha1"
	"github.com/mandate-io/idv/internal/sandbox"
	"github.com/mandate-io/idv/internal/sandbox/control"
)

// Without config/reports, an action that downloads a report fails at once, and leaves its name free. Once the
// permission is granted, the same manifest works.
func TestReportForbidden(t *testing.T) {
	t.Parallel()
	w := newWorld(t, sandbox.Options{})
	const user = "operator-without-reports"
	w.runAs(user)
	w.connect()
	w.start()
	w.action("report", report) // before there is a Mandate
	w.actionFails("report", v1alpha1.ReasonReportForbidden)
	w.verified()
	w.kubectl("delete", "mandateaction", "report")
	w.action("report", report)
	w.actionFails("report", v1alpha1.ReasonReportForbidden)
	if got := w.requests(control.IndividualReport); got != 0 {
		t.Errorf("the report was requested %d times", got)
	}
	w.checkNoSecret("jane-report")

	w.bindReports(user)
	w.kubectl("delete", "mandateaction", "report")
	w.action("report", report)
	w.checkReport(w.actionCompletes("report"), "application/pdf", "%PDF-")
}

// bindReports binds a user to the ClusterRole of config/reports in this namespace.
func (w *world) bindReports(user string) {
	w.Helper()
	w.check(w.Create(w.Context(), &rbacv1.RoleBinding{
		ObjectMeta: metav1.ObjectMeta{Namespace: w.namespace, Name: user + "-reports"},
		RoleRef:    rbacv1.RoleRef{APIGroup: rbacv1.GroupName, Kind: "ClusterRole", Name: "mandate-operator-reports"},
		Subjects:   []rbacv1.Subject{{Kind: rbacv1.UserKind, Name: user}},
	}))
	// A binding is not in force as soon as it is stored.
	w.eventually(func() (bool, string) {
		review := &authorizationv1.SubjectAccessReview{Spec: authorizationv1.SubjectAccessReviewSpec{
			User: user,
			ResourceAttributes: &authorizationv1.ResourceAttributes{
				Namespace: w.namespace, Verb: "create", Resource: "secrets",
			},
		}}
		w.check(w.Create(w.Context(), review))
		return review.Status.Allowed, user + " may not create Secrets"
	})
}

// The permission is withdrawn while the report is downloaded. A report is not in the log.
func TestReportForbiddenMeanwhile(t *testing.T) {
	t.Parallel()
	w, r, _ := newActionReconcilers(t)
	w.play(w.get("acme"), control.ResultPass)
	asked, forbidden := 0, apierrors.NewForbidden(corev1.Resource("secrets"), "", errors.New("RBAC"))
	r.interceptor = func(request string, do func() error) error {
		switch {
		case request == secretCreate:
			return forbidden
		case request == accessReview && asked == 0:
			asked++
		case request == accessReview:
			return forbidden
		}
		return do()
	}
	w.action("report", report)
	r.reconcile("report")
	w.actionFails("report", v1alpha1.ReasonReportForbidden)
	if call := w.callOf("report"); call != nil {
		t.Errorf("the log has %+v", call)
	}
}
