package operator

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"unsafe"

	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/mandate-io/idv/api/v1alpha1"
)

// What Mandates share is in memory once, and each says what it said before.
func TestIntern(t *testing.T) {
	interner := newInterner()
	decode := func() *v1alpha1.Mandate {
		m := &v1alpha1.Mandate{}
		err := json.Unmarshal([]byte(`{
			"metadata": {"name": "acme", "namespace": "default"},
			"spec": {"serviceRef": {"name": "default"}, "individuals": [{"name": "jane"}, {"name": "john"}, {"name": "jill"}]},
			"status": {
				"state": "in review", "progress": "1/2", "mandateType": {"id": 1, "name": "Know your customer", "code": "kyc"},
				"conditions": [{"type": "Ready", "status": "True", "reason": "Accepted", "message": "A sentence."}],
				"availableActions": [{"id": 1, "name": "upload", "title": "Upload a document"}],
				"individuals": [{
					"name": "jane", "state": {"id": 2, "name": "invited"}, "completedActions": ["selfie"],
					"termsAccepted": true, "checksPassed": 1,
					"checks": [{"id": 7, "name": "liveness", "title": "Liveness", "state": {"id": 4, "name": "passed"}}]
				}, {"name": "john"}]
			}
		}`), m)
		if err != nil {
			t.Fatal(err)
		}
		return m
	}
	one, other := decode(), decode()
	interner.intern(one)
	interner.intern(other)
	if diff := cmp.Diff(decode(), one); diff != "" {
		t.Errorf("a Mandate was changed:\n%s", diff)
	}
	texts := func(m *v1alpha1.Mandate) map[string]string {
		individual := &m.Status.Individuals[0]
		return map[string]string{
			"namespace":              m.Namespace,
			"state":                  m.Status.State,
			"message":                m.Status.Conditions[0].Message,
			"status":                 string(m.Status.Conditions[0].Status),
			"mandate type":           m.Status.MandateType.Name,
			"action":                 m.Status.AvailableActions[0].Title,
			"completed action":       individual.CompletedActions[0],
			"state of an individual": individual.State.Name,
			"check":                  individual.Checks[0].Title,
			"state of a check":       individual.Checks[0].State.Name,
		}
	}
	pointers := func(m *v1alpha1.Mandate) []any {
		individual := &m.Status.Individuals[0]
		return []any{
			m.Status.MandateType,
			individual.State,
			individual.Checks[0].State,
			individual.ChecksPassed,
			individual.TermsAccepted,
		}
	}
	for i, pointer := range pointers(one) {
		if pointer != pointers(other)[i] {
			t.Errorf("two Mandates point to a %T each", pointer)
		}
	}
	for what, text := range texts(one) {
		if unsafe.StringData(text) != unsafe.StringData(texts(other)[what]) {
			t.Errorf("%s: two Mandates have a copy each", what)
		}
	}
}

// A service that gives everything a name of its own must not fill the memory with names that nobody has any more.
func TestInternIsBounded(t *testing.T) {
	interner := newInterner()
	for i := range 2 * maxInterned {
		m := &v1alpha1.Mandate{Status: v1alpha1.MandateStatus{
			Conditions:  []metav1.Condition{{Message: fmt.Sprint(i)}},
			MandateType: &v1alpha1.MandateType{ID: int64(i)},
		}}
		interner.intern(m)
		if m.Status.Conditions[0].Message != fmt.Sprint(i) {
			t.Fatalf("%q became %q", fmt.Sprint(i), m.Status.Conditions[0].Message)
		}
	}
	for i := range 2 * maxInterned {
		interner.intern(&v1alpha1.Mandate{Status: v1alpha1.MandateStatus{State: fmt.Sprint(i)}})
	}
	own, services := len(interner.texts), len(interner.values)
	if own > maxInterned || services > maxInterned {
		t.Errorf("%d values and %d of services are kept, more than %d", own, services, maxInterned)
	}
}

// What services say, however much it is, keeps nobody's reasons and messages from being shared.
func TestInternedTextsOfServices(t *testing.T) {
	interner := newInterner()
	for i := range 2 * maxInterned {
		interner.intern(&v1alpha1.Mandate{Status: v1alpha1.MandateStatus{State: fmt.Sprint(i)}})
	}
	long := strings.Repeat("x", maxInternedText+1)
	message := func() string {
		m := &v1alpha1.Mandate{Status: v1alpha1.MandateStatus{
			State: long, Conditions: []metav1.Condition{{Message: strings.Clone("A sentence.")}},
		}}
		interner.intern(m)
		return m.Status.Conditions[0].Message
	}
	one, other := message(), message()
	if unsafe.StringData(one) != unsafe.StringData(other) {
		t.Error("two Mandates have a copy each of a message")
	}
	if _, kept := interner.values[long]; kept {
		t.Error("a long text of a service is kept")
	}
}
