package mandate

import (
	"context"
	"net/http"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/mandate-io/idv/api/v1alpha1"
	"github.com/mandate-io/idv/operator/ledger"
)

// terminating is an API server whose namespace is being deleted: the records are gone, and nothing can be created. The
// Mandate stays for its finalizer.
type terminating struct {
	client.Client
	mandate *v1alpha1.Mandate
	patched []byte // the last patch of the status
}

var errGone = apierrors.NewNotFound(schema.GroupResource{Resource: "applicationrecords"}, "acme")

func (a *terminating) Get(_ context.Context, _ client.ObjectKey, into client.Object, _ ...client.GetOption) error {
	if mandate, ok := into.(*v1alpha1.Mandate); ok {
		a.mandate.DeepCopyInto(mandate)
		return nil
	}
	return errGone
}

func (*terminating) Patch(context.Context, client.Object, client.Patch, ...client.PatchOption) error {
	return errGone
}

func (*terminating) Create(context.Context, client.Object, ...client.CreateOption) error {
	return &apierrors.StatusError{ErrStatus: metav1.Status{
		Code: http.StatusForbidden, Reason: metav1.StatusReasonForbidden,
		Details: &metav1.StatusDetails{Causes: []metav1.StatusCause{{Type: corev1.NamespaceTerminatingCause}}},
	}}
}

// terminatingStatus writes the status of the Mandate, which still works.
type terminatingStatus struct {
	client.SubResourceWriter
	api *terminating
}

func (w terminatingStatus) Patch(
	_ context.Context, object client.Object, patch client.Patch, _ ...client.SubResourcePatchOption,
) (err error) {
	w.api.patched, err = patch.Data(object)
	return err
}

// The id of an application whose namespace is being deleted goes into the status, because the ledger cannot take it.
// The reconciliation goes on with it, so that the deletionPolicy is carried out.
func TestIDInATerminatingNamespace(t *testing.T) {
	m := &v1alpha1.Mandate{ObjectMeta: metav1.ObjectMeta{
		Namespace: namespace, Name: "acme", UID: "1", Generation: 1, ResourceVersion: "1",
	}}
	deleted := m.DeepCopy()
	deleted.DeletionTimestamp, deleted.Generation = new(metav1.Now()), 2
	deleted.Spec.DeletionPolicy = v1alpha1.DeletionPolicyDelete
	deleted.Finalizers = []string{v1alpha1.ApplicationFinalizer}
	api := &terminating{mandate: deleted}
	config := Config{Live: api, Ledger: ledger.Ledger{Reader: api, Writer: api}, Status: terminatingStatus{api: api}}
	r := &reconciliation{Reconciler: NewReconciler(config), mandate: m, reference: "R"}
	attempt := ledger.NewAttempt("", now)
	r.record = &v1alpha1.ApplicationRecord{
		ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: "acme"},
		Spec:       v1alpha1.ApplicationRecordSpec{Reference: "R", Attempt: &attempt},
	}
	r.facts.attempt = attemptFacts{active: true, posted: true, id: 4711}
	if err := r.deposit(t.Context()); err != nil {
		t.Fatal(err)
	}
	if !strings.Contains(string(api.patched), "4711") {
		t.Errorf("the status was patched with %q, want the id", api.patched)
	}
	d := r.facts.deletion
	if r.facts.id != 4711 || !d.requested || !d.finalizer || d.policy != v1alpha1.DeletionPolicyDelete {
		t.Errorf("it goes on with the application %d and the deletion %+v", r.facts.id, d)
	}
}
