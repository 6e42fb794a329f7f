package ledger_test

import (
	"errors"
	"strconv"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/mandate-io/idv/api/v1alpha1"
	"github.com/mandate-io/idv/internal/testenv"
	"github.com/mandate-io/idv/operator/ledger"
)

var env *testenv.Environment

func TestMain(m *testing.M) { testenv.Main(m, &env) }

const (
	serviceURL = "https://idv.example.com"
	reference  = "ACME-1"
)

// fixture is a ledger on a real API server, in a namespace of its own.
type fixture struct {
	*testing.T
	ledger.Ledger
	client    client.Client
	namespace string
}

func newFixture(t *testing.T) *fixture {
	t.Helper()
	f := &fixture{T: t, namespace: env.Namespace(t)}
	scheme := runtime.NewScheme()
	f.check(errors.Join(v1alpha1.AddToScheme(scheme), corev1.AddToScheme(scheme), apiextensionsv1.AddToScheme(scheme)))
	var err error
	f.client, err = client.New(env.Config, client.Options{Scheme: scheme})
	f.check(err)
	strict := client.WithFieldValidation(f.client, metav1.FieldValidationStrict)
	f.Ledger = ledger.Ledger{Reader: f.client, Writer: strict}
	return f
}

func (f *fixture) check(err error) {
	f.Helper()
	if err != nil {
		f.Fatal(err)
	}
}

func (f *fixture) claim(mandate string) (*v1alpha1.ApplicationRecord, error) {
	attempt := ledger.NewAttempt("inputs", time.Now())
	return f.Claim(f.Context(), f.namespace, v1alpha1.ApplicationRecordSpec{
		ServiceURL: serviceURL, Reference: reference, Attempt: &attempt,
		MandateRef: v1alpha1.RecordedMandate{Name: mandate, UID: types.UID("uid-of-" + mandate)},
	})
}

func (f *fixture) claimed() *v1alpha1.ApplicationRecord {
	f.Helper()
	record, err := f.claim("acme")
	f.check(err)
	return record
}

func (f *fixture) label(record *v1alpha1.ApplicationRecord) {
	f.Helper()
	labelled := record.DeepCopy()
	labelled.Labels = map[string]string{"team": "onboarding"}
	f.check(f.client.Patch(f.Context(), labelled, client.MergeFrom(record)))
}

func (f *fixture) retake(record *v1alpha1.ApplicationRecord) {
	f.Helper()
	attempt := ledger.NewAttempt("inputs", time.Now())
	attempt.Ordinal = record.Spec.Attempt.Ordinal + 1
	_, err := f.Retake(f.Context(), record, "another-uid", attempt)
	f.check(err)
}

func (f *fixture) deposit(record *v1alpha1.ApplicationRecord, id int64) {
	f.Helper()
	_, err := f.Deposit(f.Context(), record, id, metav1.Now())
	f.check(err)
}

// A record may change in different ways after it was read. Each write fails with ErrLost if a change concerns it.
func TestLost(t *testing.T) {
	t.Parallel()
	const (
		unchanged = "unchanged"
		labelled  = "labelled"
		retaken   = "retaken"
		deposited = "deposited"
		deleted   = "deleted"
		replaced  = "deleted and claimed by another Mandate"
	)
	meanwhile := map[string]func(*fixture, *v1alpha1.ApplicationRecord){
		unchanged: func(*fixture, *v1alpha1.ApplicationRecord) {},
		labelled:  (*fixture).label,
		retaken:   (*fixture).retake,
		deposited: func(f *fixture, record *v1alpha1.ApplicationRecord) { f.deposit(record, 7) },
		deleted:   func(f *fixture, record *v1alpha1.ApplicationRecord) { f.check(f.client.Delete(f.Context(), record)) },
		replaced: func(f *fixture, record *v1alpha1.ApplicationRecord) {
			f.check(f.client.Delete(f.Context(), record))
			_, err := f.claim("other")
			f.check(err)
		},
	}
	cases := map[string]struct {
		reason string
		write  func(*fixture, *v1alpha1.ApplicationRecord) error
		lost   map[string]bool
	}{
		"claim": {
			reason: "the record is a lock",
			write: func(f *fixture, _ *v1alpha1.ApplicationRecord) error {
				_, err := f.claim("other")
				return err
			},
			lost: map[string]bool{unchanged: true, retaken: true, deleted: false},
		},
		"retake": {
			reason: "the decision depends on the whole record",
			write: func(f *fixture, record *v1alpha1.ApplicationRecord) error {
				_, err := f.Retake(f.Context(), record, "uid-of-acme", ledger.NewAttempt("inputs", time.Now()))
				return err
			},
			lost: map[string]bool{
				unchanged: false, labelled: true, retaken: true, deposited: true,
				deleted: true, replaced: true,
			},
		},
		"release": {
			reason: "an attempt may have started",
			write:  func(f *fixture, record *v1alpha1.ApplicationRecord) error { return f.Release(f.Context(), record) },
			lost: map[string]bool{
				unchanged: false, labelled: true, retaken: true, deposited: true,
				deleted: true, replaced: true,
			},
		},
		"conclude": {
			reason: "only another attempt replaces this one",
			write: func(f *fixture, record *v1alpha1.ApplicationRecord) error {
				conclusion := *record.Spec.Attempt
				conclusion.Sent, conclusion.Verdict = false, v1alpha1.VerdictRefused
				_, err := f.Conclude(f.Context(), record, conclusion)
				return err
			},
			lost: map[string]bool{unchanged: false, labelled: false, retaken: true, deleted: true, replaced: true},
		},
		"deposit": {
			reason: "only another attempt replaces this one, and an id may be stored twice",
			write: func(f *fixture, record *v1alpha1.ApplicationRecord) error {
				_, err := f.Deposit(f.Context(), record, 7, metav1.Now())
				return err
			},
			lost: map[string]bool{
				unchanged: false, labelled: false, deposited: false, retaken: true,
				deleted: true, replaced: true,
			},
		},
	}
	for name, c := range cases {
		for change, lost := range c.lost {
			t.Run(name+", "+change, func(t *testing.T) {
				t.Parallel()
				f := newFixture(t)
				record := f.claimed()
				meanwhile[change](f, record)
				switch err := c.write(f, record); {
				case lost && !errors.Is(err, ledger.ErrLost):
					t.Errorf("got %v, want ErrLost: %s", err, c.reason)
				case !lost && err != nil:
					t.Errorf("got %v, want no error: %s", err, c.reason)
				}
			})
		}
	}
}

func TestSecondIDIsRefused(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	record := f.claimed()
	f.deposit(record, 7)
	_, err := f.Deposit(t.Context(), record, 8, metav1.Now())
	if !apierrors.IsInvalid(err) || errors.Is(err, ledger.ErrLost) {
		t.Errorf("got %v, want Invalid: a retry would not help", err)
	}
}

func TestClaimInATerminatingNamespace(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	f.check(f.client.Delete(t.Context(), &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: f.namespace}}))
	if _, err := f.claim("acme"); !errors.Is(err, ledger.ErrNoNamespace) {
		t.Errorf("in a namespace that is being deleted: got %v, want ErrNoNamespace", err)
	}
	f.namespace = "never-there"
	if _, err := f.claim("acme"); !errors.Is(err, ledger.ErrNoNamespace) {
		t.Errorf("in a namespace that is gone: got %v, want ErrNoNamespace", err)
	}
}

func TestGet(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	if record, err := f.ByReference(t.Context(), f.namespace, serviceURL, reference); record != nil || err != nil {
		t.Errorf("without a record: got %v, %v", record, err)
	}
	claimed := f.claimed()
	record, err := f.ByReference(t.Context(), f.namespace, serviceURL, reference)
	f.check(err)
	got, want := record.Spec.Attempt, claimed.Spec.Attempt
	if got.Nonce != want.Nonce || !got.StartedTime.Equal(&want.StartedTime) {
		t.Errorf("got %+v, want %+v", got, want)
	}
	forged := &v1alpha1.ApplicationRecord{
		ObjectMeta: metav1.ObjectMeta{Namespace: f.namespace, Name: ledger.Name(serviceURL, "ACME-2")},
		Spec:       claimed.Spec,
	}
	f.check(f.client.Create(t.Context(), forged))
	if record, err := f.ByReference(t.Context(), f.namespace, serviceURL, "ACME-2"); err == nil {
		t.Errorf("a record that does not match its name was read: %+v", record)
	}
}

func TestOfMandate(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	record := f.claimed()
	f.checkFound("acme", 1)
	f.checkFound("other", 0)
	f.retake(record)
	f.checkFound("acme", 1)
	long := strings.Repeat("x", 253)
	for i, name := range []string{long, long[1:] + "y"} {
		spec := record.Spec
		spec.MandateRef.Name, spec.Reference = name, strconv.Itoa(i)
		_, err := f.Claim(t.Context(), f.namespace, spec)
		f.check(err)
	}
	f.checkFound(long, 1)
}

func (f *fixture) checkFound(mandate string, want int) {
	f.Helper()
	if records, err := f.OfMandate(f.Context(), f.namespace, mandate); err != nil || len(records) != want {
		f.Errorf("%d records of the Mandate %s, want %d (%v)", len(records), mandate, want, err)
	}
}

func TestName(t *testing.T) {
	t.Parallel()
	same := [][2]string{
		{"https://idv.example.com", "https://idv.example.com/"},
		{"https://idv.example.com", "HTTPS://IDV.example.com:443"},
		{"http://127.0.0.1", "http://127.0.0.1:80//"},
		{"https://idv.example.com/a", "https://idv.example.com/a/"},
	}
	for _, pair := range same {
		if first, second := ledger.NormalURL(pair[0]), ledger.NormalURL(pair[1]); first != second {
			t.Errorf("the URLs %s and %s have different records: %s, %s", pair[0], pair[1], first, second)
		}
	}
	different := map[string]string{}
	for _, key := range [][2]string{
		{"https://idv.example.com", "a"}, {"https://idv.example.com", "A"},
		{"https://idv.example.com/a", "a"}, {"http://idv.example.com", "a"},
		{"https://idv.example.com:8443", "a"}, {"https://idv.example.com/A", "a"},
	} {
		name := ledger.Name(ledger.NormalURL(key[0]), key[1])
		if other, exists := different[name]; exists {
			t.Errorf("%v and %s have the same record", key, other)
		}
		different[name] = key[0] + " " + key[1]
	}
}

// An older CRD drops a field of the attempt. The test is not parallel, because all tests share the CRD.
func TestOlderCRD(t *testing.T) {
	f := newFixture(t)
	restore := f.dropField("inputs")
	defer restore()

	if _, err := f.claim("acme"); !apierrors.IsBadRequest(err) {
		t.Errorf("a strict writer got %v, want BadRequest for the unknown field", err)
	}
	f.Writer = client.WithFieldValidation(f.client, metav1.FieldValidationIgnore)
	if _, err := f.claim("acme"); !errors.Is(err, ledger.ErrIncomplete) {
		t.Errorf("got %v, want ErrIncomplete", err)
	}
	if record, err := f.ByReference(t.Context(), f.namespace, serviceURL, reference); record != nil || err != nil {
		t.Errorf("the record of an attempt that was not sent still exists: %+v, %v", record, err)
	}
}

// dropField removes a field of the attempt from the CRD, and waits until the API server drops it. restore undoes this.
func (f *fixture) dropField(field string) (restore func()) {
	f.Helper()
	const name = "applicationrecords.idv.mandate.io"
	crd := &apiextensionsv1.CustomResourceDefinition{}
	f.check(f.client.Get(f.Context(), types.NamespacedName{Name: name}, crd))
	complete := crd.DeepCopy()
	delete(crd.Spec.Versions[0].Schema.OpenAPIV3Schema.Properties["spec"].Properties["attempt"].Properties, field)
	f.check(f.client.Update(f.Context(), crd))
	f.waitFor(func(kept bool) bool { return !kept })
	return func() {
		complete.ResourceVersion = crd.ResourceVersion
		f.check(f.client.Update(f.Context(), complete))
		f.waitFor(func(kept bool) bool { return kept })
	}
}

// waitFor waits until the API server keeps the inputs of an attempt, or drops them.
func (f *fixture) waitFor(done func(kept bool) bool) {
	f.Helper()
	testenv.Eventually(f.T, time.Minute, func() (bool, string) {
		attempt := ledger.NewAttempt("inputs", time.Now())
		probe := &v1alpha1.ApplicationRecord{
			ObjectMeta: metav1.ObjectMeta{Namespace: f.namespace, GenerateName: "probe-"},
			Spec: v1alpha1.ApplicationRecordSpec{
				ServiceURL: serviceURL, Reference: reference, Attempt: &attempt,
				MandateRef: v1alpha1.RecordedMandate{Name: "probe", UID: "probe"},
			},
		}
		f.check(f.client.Create(f.Context(), probe, client.FieldValidation(metav1.FieldValidationIgnore)))
		return done(probe.Spec.Attempt.Inputs != ""), "the API server still uses the previous CRD"
	})
}
