package action

import (
	"context"
	"testing"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/mandate-io/idv/api/v1alpha1"
)

// secretWriter is an API server that creates one Secret. Whatever else is written panics.
type secretWriter struct {
	client.Writer
	stored *corev1.Secret
}

func (w *secretWriter) Create(_ context.Context, object client.Object, _ ...client.CreateOption) error {
	if w.stored != nil {
		return apierrors.NewAlreadyExists(schema.GroupResource{Resource: "secrets"}, object.GetName())
	}
	w.stored = object.(*corev1.Secret)
	return nil
}

// The Secret of a report belongs to its action, and goes with it. A Secret that exists is not written over.
func TestReportHasAnOwner(t *testing.T) {
	writer := &secretWriter{}
	r := &reconciliation{
		Reconciler: &Reconciler{config: Config{Writer: writer}},
		action:     &v1alpha1.MandateAction{ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: "report", UID: "1"}},
		report:     file{content: []byte("%PDF-")},
	}
	r.action.Spec.ReportSecretRef = &v1alpha1.SecretReference{Name: "jane-report"}
	if err := r.store(t.Context()); err != nil {
		t.Fatal(err)
	}
	if !metav1.IsControlledBy(writer.stored, r.action) || string(writer.stored.Data[keyReport]) != "%PDF-" {
		t.Errorf("stored %+v", writer.stored)
	}
	first := writer.stored
	r.report = file{content: []byte("other")}
	if err := r.store(t.Context()); err != nil || r.facts.secret.mine || string(first.Data[keyReport]) != "%PDF-" {
		t.Errorf("the second report: %v, %+v", err, r.facts.secret)
	}
}
