package testenv

import (
	"testing"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/mandate-io/idv/internal/test/await"
)

// Existing clients work after a crash. A restore removes what was written after the backup.
func TestDisaster(t *testing.T) {
	e := newControlPlane(t)
	c, err := client.New(e.Config, client.Options{})
	if err != nil {
		t.Fatal(err)
	}
	before := e.Namespace(t)
	backup, err := e.Backup()
	if err != nil {
		t.Fatal(err)
	}
	after := e.Namespace(t)
	exists := func(name string) bool {
		t.Helper()
		err := c.Get(t.Context(), client.ObjectKey{Name: name}, &corev1.Namespace{})
		if client.IgnoreNotFound(err) != nil {
			t.Fatal(err)
		}
		return !apierrors.IsNotFound(err)
	}
	for range 2 { // first the library's process, then ours
		if err := e.Crash(APIServer); err != nil {
			t.Fatal(err)
		}
		if err := c.Get(t.Context(), client.ObjectKey{Name: before}, &corev1.Namespace{}); err == nil {
			t.Error("the API server responds after the crash")
		}
		if err := e.Restart(await.Context(t), APIServer); err != nil {
			t.Fatal(err)
		}
		if !exists(before) || !exists(after) {
			t.Error("something is missing after a crash")
		}
	}
	if err := e.Restore(await.Context(t), backup); err != nil {
		t.Fatal(err)
	}
	if !exists(before) || exists(after) {
		t.Errorf("after the restore, what was before it exists: %t; and what came later: %t", exists(before), exists(after))
	}
	if err := c.Create(t.Context(), &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: after}}); err != nil {
		t.Errorf("nothing can be written after the restore: %v", err)
	}
}

// Deletion removes owned objects and the content of namespaces.
func TestControllerManager(t *testing.T) {
	e := newControlPlane(t)
	manager, err := e.StartControllerManager()
	if err != nil {
		t.Fatal(err)
	}
	c, err := client.New(e.Config, client.Options{})
	if err != nil {
		t.Fatal(err)
	}
	create := func(namespace, name string, owners ...metav1.OwnerReference) *corev1.ConfigMap {
		t.Helper()
		m := &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: name, OwnerReferences: owners}}
		if err := c.Create(t.Context(), m); err != nil {
			t.Fatal(err)
		}
		return m
	}
	gone := func(o client.Object) {
		t.Helper()
		err := manager.wait(await.Context(t), o.GetName()+" is gone", func() (bool, error) {
			err := c.Get(t.Context(), client.ObjectKeyFromObject(o), o)
			return apierrors.IsNotFound(err), client.IgnoreNotFound(err)
		})
		if err != nil {
			t.Error(err)
		}
	}
	owner := create(e.Namespace(t), "owner")
	ownerReference := metav1.NewControllerRef(owner, corev1.SchemeGroupVersion.WithKind("ConfigMap"))
	owned := create(owner.Namespace, "owned", *ownerReference)
	namespace := &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: e.Namespace(t)}}
	create(namespace.Name, "content")
	for _, o := range []client.Object{owner, namespace} {
		if err := c.Delete(t.Context(), o); err != nil {
			t.Fatal(err)
		}
	}
	gone(owned)
	gone(namespace)
}
