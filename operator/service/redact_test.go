package service

import (
	"context"
	"errors"
	"strings"
	"testing"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// refusing is an API server whose webhooks quote what they refuse.
type refusing struct{ client.Reader }

func (refusing) Get(_ context.Context, key client.ObjectKey, _ client.Object, _ ...client.GetOption) error {
	return apierrors.NewForbidden(schema.GroupResource{Resource: "identityservices"}, key.Name, errors.New("canary"))
}

// An error that controller-runtime logs does not repeat what the API server said.
func TestReconcileRedacts(t *testing.T) {
	t.Parallel()
	r := NewReconciler(Config{Cache: refusing{}})
	_, err := r.Reconcile(t.Context(), testKey)
	if err == nil || !strings.Contains(err.Error(), "403") || strings.Contains(err.Error(), "canary") {
		t.Errorf("the error is %v", err)
	}
}
