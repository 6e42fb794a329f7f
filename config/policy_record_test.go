package config

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/mandate-io/idv/api/v1alpha1"
	"github.com/mandate-io/idv/internal/test/testenv"
)

// writer is a user with every verb but record, on all our kinds in the whole cluster.
const writer = "writer"

// withRecordPolicy applies config/admission and waits until it is in force, or removes it and waits until it is not.
func (c *cluster) withRecordPolicy(applied bool) {
	c.Helper()
	granted(c)
	if applied {
		c.apply("--kustomize", "config/admission")
	} else {
		c.kubectl("delete", "--ignore-not-found", "--kustomize", "config/admission")
	}
	role := &rbacv1.ClusterRole{
		ObjectMeta: metav1.ObjectMeta{GenerateName: "test-"},
		Rules: []rbacv1.PolicyRule{{
			APIGroups: []string{v1alpha1.SchemeGroupVersion.Group}, Resources: []string{"*"},
			Verbs: []string{"get", "list", "watch", "create", "update", "patch", "delete", "deletecollection"},
		}},
	}
	c.check(c.Create(c.Context(), role))
	c.bind("", writer, role.Name)
	c.waitForAccess("", writer, "create", "applicationrecords")
	c.eventually(func() (bool, string) {
		err := c.as(writer).Create(c.Context(), record(c.T, "default", "forged"), client.DryRunAll)
		return apierrors.IsForbidden(err) == applied, fmt.Sprintf("the policy of records: error %v", err)
	})
}

// Without the policy, the owner of a namespace writes records and statuses. With it, nobody without the verb does, by
// any request, and a RoleBinding does not grant the verb. The operator and others with it do what RBAC grants them.
func TestOnlyTheOperatorWritesRecords(t *testing.T) {
	c, namespace := in(t, env), env.Namespace(t)
	c.withRecordPolicy(false)
	c.bind(namespace, "owner", "cluster-admin")
	c.bind(namespace, "restorer-of-a-namespace", "idv-restorer")
	c.bind("", "restorer", "idv-restorer")
	c.bind("", "administrator", "cluster-admin")
	c.waitForAccess(namespace, "owner", "record", "applicationrecords")
	c.waitForAccess(namespace, "restorer-of-a-namespace", "record", "applicationrecords")
	c.waitForAccess("", "restorer", "record", "applicationrecords")
	c.waitForAccess("", "administrator", "record", "applicationrecords")
	writes := c.recordWrites(namespace)
	for name, write := range writes {
		for _, user := range []string{"owner", writer} {
			shared := strings.HasPrefix(write.resource, "cluster") // a RoleBinding does not reach these
			if err := write.send(c.as(user)); err != nil && (user == writer || !shared) {
				t.Errorf("without the policy, %s cannot %s: %v", user, name, err)
			}
		}
	}

	c.withRecordPolicy(true)
	for user, mayRecord := range map[string]bool{
		"owner": false, writer: false, "restorer-of-a-namespace": false,
		testenv.OperatorUser: true, "restorer": true, "administrator": true,
	} {
		t.Run(user, func(t *testing.T) {
			c := in(t, env)
			for name, write := range writes {
				err, where := write.send(c.as(user)), namespace
				if strings.HasPrefix(write.resource, "cluster") {
					where = ""
				}
				switch permitted := c.may(where, user, write.verb, write.resource); {
				case permitted && !mayRecord:
					refused(t, user+", to "+name, err, "verb record on applicationrecords.idv.mandate.io", "idv-restorer")
				case permitted && err != nil:
					t.Errorf("%s cannot %s: %v", user, name, err)
				case !permitted && !apierrors.IsForbidden(err):
					t.Errorf("%s can %s: error %v, want one of RBAC", user, name, err)
				}
			}
		})
	}
}

// The owner of a namespace continues to do everything else. A write that changes nothing needs no verb: a storage
// version migration makes such writes.
func TestRecordPolicyLeavesTenantsAlone(t *testing.T) {
	c, namespace := in(t, env), env.Namespace(t)
	c.withRecordPolicy(true)
	existing := record(t, namespace, "acme")
	c.check(c.Create(t.Context(), existing))
	c.bind(namespace, "owner", "cluster-admin")
	c.waitForAccess(namespace, "owner", "create", "mandates")
	user, ctx := c.as("owner"), t.Context()
	objects := []client.Object{
		mandate(t, namespace, "{}"), action(t, namespace), identityService(t, namespace),
		&corev1.Secret{ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: "idv"}},
		&rbacv1.RoleBinding{
			ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: "pipeline"},
			RoleRef:    rbacv1.RoleRef{APIGroup: rbacv1.GroupName, Kind: "ClusterRole", Name: "idv-editor"},
		},
	}
	label := client.RawPatch(types.MergePatchType, []byte(`{"metadata":{"labels":{"a":"b"},"finalizers":["a.b/c"]}}`))
	release := client.RawPatch(types.MergePatchType, []byte(`{"metadata":{"finalizers":null}}`))
	for _, object := range objects {
		for what, err := range map[string]error{
			"create": user.Create(ctx, object), "patch": user.Patch(ctx, object, label), "update": user.Update(ctx, object),
			"get": user.Get(ctx, client.ObjectKeyFromObject(object), object), "delete": user.Delete(ctx, object),
			"complete the deletion of": user.Patch(ctx, object, release),
		} {
			if err != nil {
				t.Errorf("the owner cannot %s the %T %s: %v", what, object, object.GetName(), err)
			}
		}
	}
	forged := mandate(t, namespace, "{}")
	setFields(forged.Object, map[string]any{"status": map[string]any{"applicationID": int64(101)}})
	c.check(user.Create(ctx, forged))
	if _, found, err := unstructured.NestedInt64(forged.Object, "status", "applicationID"); found || err != nil {
		t.Errorf("a Mandate is created with a status: %v, error %v", forged.Object["status"], err)
	}
	identity := &unstructured.Unstructured{}
	identity.SetGroupVersionKind(existing.GroupVersionKind())
	identity.SetName(existing.GetName())
	migration := client.RawPatch(types.ApplyPatchType, []byte(encoded(t, identity.Object)))
	c.check(user.Get(ctx, client.ObjectKeyFromObject(existing), existing))
	if err := user.Update(ctx, existing.DeepCopy()); err != nil {
		t.Errorf("the owner cannot replace a record by itself: %v", err)
	}
	if err := user.Patch(ctx, existing.DeepCopy(), migration, client.FieldOwner("migrator")); err != nil {
		t.Errorf("a storage version migration is refused: %v", err)
	}
}

// The cluster's own controllers delete, and complete deletions. They change nothing else.
func TestRecordPolicyLeavesControllersAlone(t *testing.T) {
	c, namespace := in(t, env), env.Namespace(t)
	c.withRecordPolicy(true)
	existing, m := record(t, namespace, "acme"), mandate(t, namespace, "{}")
	existing.SetFinalizers([]string{metav1.FinalizerDeleteDependents})
	existing.SetOwnerReferences([]metav1.OwnerReference{{APIVersion: "v1", Kind: "Pod", Name: "a", UID: "b"}})
	c.check(c.Create(t.Context(), existing))
	c.check(c.Create(t.Context(), m))
	collector, deleter := c.as(garbageCollector), c.as(namespaceController)
	merge := func(patch string) client.Patch { return client.RawPatch(types.MergePatchType, []byte(patch)) }
	for what, err := range map[string]error{
		"the garbage collector removes an owner": collector.Patch(t.Context(), existing.DeepCopy(),
			merge(`{"metadata":{"ownerReferences":null}}`), client.DryRunAll),
		"the garbage collector removes a finalizer": collector.Patch(t.Context(), existing.DeepCopy(),
			merge(`{"metadata":{"finalizers":null}}`), client.DryRunAll),
		"the garbage collector deletes": collector.Delete(t.Context(), existing.DeepCopy(), client.DryRunAll),
		"the namespace goes": deleter.DeleteAllOf(t.Context(), existing.DeepCopy(), client.InNamespace(namespace),
			client.DryRunAll),
	} {
		if err != nil {
			t.Errorf("%s: %v", what, err)
		}
	}
	refused(t, "the garbage collector edits", collector.Patch(t.Context(), existing.DeepCopy(),
		merge(`{"spec":{"mandateRef":{"uid":"canary"}}}`), client.DryRunAll), "verb record")
	refused(t, "the garbage collector annotates", collector.Patch(t.Context(), existing.DeepCopy(),
		merge(`{"metadata":{"annotations":{"canary":"b"}}}`), client.DryRunAll), "verb record")
	refused(t, "the garbage collector writes a status", collector.Status().Patch(t.Context(), m.DeepCopy(),
		merge(`{"status":{"applicationID":101}}`), client.DryRunAll), "verb record")
}

// The cluster's own controllers, with their own accounts, delete a namespace with everything in it when its owner asks
// for this. They also complete the deletion of a record that waits for its dependents.
func TestNamespaceIsDeletedWithItsRecords(t *testing.T) {
	environment := emptyCluster(t)
	c, namespace := in(t, environment), environment.Namespace(t)
	c.check(environment.InstallCRDs())
	c.withRecordPolicy(true)
	c.bind(namespace, "owner", "cluster-admin")
	c.waitForAccess(namespace, "owner", "delete", "mandates")
	waiting := record(t, namespace, "waiting")
	for _, object := range []*unstructured.Unstructured{
		record(t, namespace, "acme"), waiting, mandate(t, namespace, "{}"), action(t, namespace),
		identityService(t, namespace),
	} {
		c.check(c.Create(t.Context(), object))
	}
	_, err := environment.StartControllerManager()
	c.check(err)
	gone := func(object client.Object) {
		t.Helper()
		c.eventually(func() (bool, string) {
			err := c.Get(t.Context(), client.ObjectKeyFromObject(object), object)
			return apierrors.IsNotFound(err), fmt.Sprintf("%s: %v", object.GetName(), err)
		})
	}
	c.check(c.Delete(t.Context(), waiting, client.PropagationPolicy(metav1.DeletePropagationForeground)))
	gone(waiting)
	team := &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: namespace}}
	c.check(c.as("owner").Delete(t.Context(), team))
	gone(team)
	for user, want := range map[string]testenv.Permission{
		garbageCollector:    "patch applicationrecords.idv.mandate.io",
		namespaceController: "deletecollection applicationrecords.idv.mandate.io",
	} {
		used, _, err := environment.UsedPermissions(user)
		c.check(err)
		if !slices.Contains(used, want) {
			t.Errorf("%s did not %s: %q", user, want, used)
		}
	}
}
