package v1alpha1_test

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/runtime"

	"github.com/mandate-io/idv/api/v1alpha1"
)

// What cannot be decoded is left out and named, the rest is read, and nothing writes the object.
func TestUnreadable(t *testing.T) {
	for _, kind := range []string{
		"Mandate", "MandateAction", "ApplicationRecord", "IdentityService", "ClusterIdentityService",
	} {
		for text, want := range map[string][]string{
			`{"metadata": {"name": "acme", "labels": {"a": "b"}}, "status": null}`:          nil,
			`{"metadata": {"name": "acme", "labels": {"a": 1, "b": "c"}, "generation": 7}}`: {"metadata.labels"},
			`{"metadata": {"name": "acme", "labels": "canary", "creationTimestamp": "canary"}}`: {
				"metadata.creationTimestamp", "metadata.labels",
			},
			`{"metadata": {"name": "acme"}, "spec": "canary"}`:                                   {"spec"},
			`{"metadata": {"name": "acme"}, "spec": ["canary"], "unknown": "canary"}`:            {"spec"},
			`{"metadata": {"name": "acme", "managedFields": "canary"}, "spec": {"a": "canary"}}`: {"metadata.managedFields"},
		} {
			object := newObject(t, kind)
			if err := json.Unmarshal([]byte(text), object); err != nil {
				t.Fatalf("%s: %s: %v", kind, text, err)
			}
			decoded := object.DeepCopyObject().(decodedObject)
			if diff := cmp.Diff(want, decoded.UnreadableFields()); diff != "" {
				t.Errorf("%s: %s: unreadable fields (-want +got):\n%s", kind, text, diff)
			}
			if decoded.GetName() != "acme" {
				t.Errorf("%s: %s: the name was not decoded", kind, text)
			}
			encoded, err := json.Marshal(decoded)
			if (err != nil) != (want != nil) || err != nil && strings.Contains(err.Error(), "canary") {
				t.Errorf("%s: %s: encoded as %s, %v", kind, text, encoded, err)
			}
			if err := json.Unmarshal([]byte(`{}`), object); err != nil || len(object.UnreadableFields()) > 0 {
				t.Errorf("%s: decoded again, %q is still unreadable: %v", kind, object.UnreadableFields(), err)
			}
		}
		err := json.Unmarshal([]byte(`["canary"]`), newObject(t, kind))
		if err == nil || strings.Contains(err.Error(), "canary") {
			t.Errorf("%s: the error of a list is %v, want one without the value", kind, err)
		}
	}
}

type decodedObject interface {
	runtime.Object
	GetName() string
	UnreadableFields() []string
}

func newObject(t *testing.T, kind string) decodedObject {
	t.Helper()
	scheme := runtime.NewScheme()
	if err := v1alpha1.AddToScheme(scheme); err != nil {
		t.Fatal(err)
	}
	object, err := scheme.New(v1alpha1.SchemeGroupVersion.WithKind(kind))
	if err != nil {
		t.Fatal(err)
	}
	return object.(decodedObject)
}

// A field that cannot be decoded does not hide those beside it, and none is half decoded.
func TestUnreadableFieldsAreLeftOut(t *testing.T) {
	var records v1alpha1.ApplicationRecordList
	err := json.Unmarshal([]byte(`{"items": [
		{"metadata": {"name": "odd"}, "spec": {"applicationID": 4711, "attempt": {"nonce": "n1", "startedTime": "canary"}}},
		{"metadata": {"name": "acme"}, "spec": {"applicationID": 4712}}]}`), &records)
	if err != nil {
		t.Fatal(err)
	}
	odd, acme := &records.Items[0], &records.Items[1]
	if *odd.Spec.ApplicationID != 4711 || odd.Spec.Attempt != nil || len(odd.Unreadable) != 1 {
		t.Errorf("the record was decoded as %+v", odd)
	}
	if *acme.Spec.ApplicationID != 4712 || len(acme.Unreadable) != 0 {
		t.Errorf("the record after it was decoded as %+v", acme)
	}
}
