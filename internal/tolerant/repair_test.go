package tolerant

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	kjson "sigs.k8s.io/json"

	"github.com/mandate-io/idv/api/v1alpha1"
)

// What cannot be decoded is left out and named, and the rest is read.
func TestRepair(t *testing.T) {
	for _, resource := range []string{
		"mandates", "mandateactions", "applicationrecords", "identityservices", "clusteridentityservices",
	} {
		of := kinds[resource]
		for text, want := range map[string][]string{
			`"metadata": {"name": "acme", "labels": {"a": "b"}}, "status": null`:          nil,
			`"metadata": {"name": "acme", "labels": {"a": 1, "b": "c"}, "generation": 7}`: {"metadata.labels"},
			`"metadata": {"name": "acme", "labels": "canary", "creationTimestamp": "canary"}`: {
				"metadata.creationTimestamp", "metadata.labels",
			},
			`"metadata": {"name": "acme", "annotations": {"a": 1}}`:                            {"metadata.annotations"},
			`"metadata": {"name": "acme"}, "spec": "canary"`:                                   {"spec"},
			`"metadata": {"name": "acme"}, "spec": ["canary"], "unknown": "canary"`:            {"spec"},
			`"metadata": {"name": "acme", "managedFields": "canary"}, "spec": {"a": "canary"}`: {"metadata.managedFields"},
			`"metadata": {"name": "acme", "annotations": {"` + Annotation + `": "canary"}}`:    nil,
		} {
			data := []byte(`{"kind": "` + of.name + `", ` + text + `}`)
			var read metav1.PartialObjectMetadata
			repaired := of.repair(data)
			if err := json.Unmarshal(repaired, &read); err != nil || !of.decodes(repaired) || read.Name != "acme" {
				t.Errorf("%s: %s became %s: %v", resource, text, repaired, err)
			}
			if diff := cmp.Diff(want, UnreadableFields(&read)); diff != "" {
				t.Errorf("%s: %s: unreadable fields (-want +got):\n%s", resource, text, diff)
			}
			if again := of.repair(data); want == nil && !strings.Contains(text, Annotation) && &again[0] != &data[0] {
				t.Errorf("%s: %s was copied", resource, text)
			}
		}
		for _, text := range []string{
			`["canary"]`, `canary`, `{"kind": "Status", "status": "Failure"}`, `{"spec": "canary"}`,
		} {
			if got := of.repair([]byte(text)); string(got) != text {
				t.Errorf("%s: %s became %s", resource, text, got)
			}
		}
	}
}

// A field that cannot be decoded does not hide those beside it, none is half decoded, and other objects stay as they
// are.
func TestRepairList(t *testing.T) {
	repaired := kinds["applicationrecords"].repairList([]byte(`{"kind": "ApplicationRecordList",
		"metadata": {"resourceVersion": "7"}, "items": [
		{"kind": "ApplicationRecord", "metadata": {"name": "odd"},
			"spec": {"applicationID": 4711, "calls": [{"seq": 1, "nonce": "n1"}, {"seq": 2, "startedTime": "canary"}]}},
		{"kind": "ApplicationRecord", "metadata": {"name": "acme"}, "spec": {"applicationID": 4712}}]}`))
	var records v1alpha1.ApplicationRecordList
	if err := kjson.UnmarshalCaseSensitivePreserveInts(repaired, &records); err != nil || records.ResourceVersion != "7" {
		t.Fatal(err, records.ResourceVersion)
	}
	odd, acme := &records.Items[0], &records.Items[1]
	if *odd.Spec.ApplicationID != 4711 || odd.Spec.Calls != nil || len(UnreadableFields(odd)) != 1 {
		t.Errorf("the record was decoded as %+v", odd)
	}
	if *acme.Spec.ApplicationID != 4712 || len(UnreadableFields(acme)) != 0 {
		t.Errorf("the record after it was decoded as %+v", acme)
	}
}
