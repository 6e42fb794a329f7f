package ledger_test

import (
	"errors"
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
	"github.com/mandate-io/idv/internal/await"
	"github.com/mandate-io/idv/internal/testenv"
	"github.com/mandate-io/idv/internal/tolerant"
	"github.com/mandate-io/idv/operator/ledger"
)

var env *testenv.Environment

func TestMain(m *testing.M) { testenv.Main(m, &env) }

const (
	serviceURL = "https://idv.example.com"
	reference  = "ACME-1"
	account    = "00112233445566778899aabbccddeeff"
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
	f.client, err = client.New(tolerant.Config(env.Config), client.Options{Scheme: scheme})
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
	return f.Claim(f.Context(), f.key(mandate), attemptFor(reference))
}

func (f *fixture) key(mandate string) types.NamespacedName {
	return types.NamespacedName{Namespace: f.namespace, Name: mandate}
}

// attemptFor is what is recorded of an attempt with a reference.
func attemptFor(reference string) v1alpha1.ApplicationRecordSpec {
	return v1alpha1.ApplicationRecordSpec{
		Salt: ledger.NewSalt(), Account: account, ServiceURL: serviceURL, Reference: reference,
		Attempt:    new(ledger.NewAttempt("inputs", time.Now())),
		MandateRef: v1alpha1.RecordedMandate{UID: "uid"},
	}
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
	spec := attemptFor(reference)
	spec.Attempt.Ordinal = record.Spec.Attempt.Ordinal + 1
	_, err := f.Retake(f.Context(), record, spec)
	f.check(err)
}

func (f *fixture) deposit(record *v1alpha1.ApplicationRecord, id int64) {
	f.Helper()
	_, err := f.Deposit(f.Context(), record, record.Spec.MandateRef.UID, id, metav1.Now(), nil)
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
		replaced  = "deleted and claimed again"
	)
	meanwhile := map[string]func(*fixture, *v1alpha1.ApplicationRecord){
		unchanged: func(*fixture, *v1alpha1.ApplicationRecord) {},
		labelled:  (*fixture).label,
		retaken:   (*fixture).retake,
		deposited: func(f *fixture, record *v1alpha1.ApplicationRecord) { f.deposit(record, 7) },
		deleted:   func(f *fixture, record *v1alpha1.ApplicationRecord) { f.check(f.client.Delete(f.Context(), record)) },
		replaced: func(f *fixture, record *v1alpha1.ApplicationRecord) {
			f.check(f.client.Delete(f.Context(), record))
			f.claimed()
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
				_, err := f.claim("acme")
				return err
			},
			lost: map[string]bool{unchanged: true, retaken: true, deleted: false},
		},
		"retake": {
			reason: "the decision depends on the whole record",
			write: func(f *fixture, record *v1alpha1.ApplicationRecord) error {
				_, err := f.Retake(f.Context(), record, attemptFor(reference))
				return err
			},
			lost: map[string]bool{
				unchanged: false, labelled: true, retaken: true, deposited: true,
				deleted: true, replaced: true,
			},
		},
		"adopt": {
			reason: "the decision depends on the whole record",
			write: func(f *fixture, record *v1alpha1.ApplicationRecord) error {
				spec := attemptFor(reference)
				spec.ApplicationID = new(int64(7))
				_, err := f.Adopt(f.Context(), f.key("acme"), record, spec)
				return err
			},
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
				_, err := f.Deposit(f.Context(), record, "uid", 7, metav1.Now(), nil)
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
	_, err := f.Deposit(t.Context(), record, "uid", 8, metav1.Now(), nil)
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
	long := strings.Repeat("x", 253)
	for _, mandate := range []string{"acme", long, "10.0.0.1-and.more"} {
		if record, err := f.Get(t.Context(), f.key(mandate)); record != nil || err != nil {
			t.Errorf("without a record: got %v, %v", record, err)
		}
		claimed, err := f.claim(mandate)
		f.check(err)
		record, err := f.Get(t.Context(), f.key(mandate))
		f.check(err)
		got, want := record.Spec.Attempt, claimed.Spec.Attempt
		if got.Nonce != want.Nonce || !got.StartedTime.Equal(&want.StartedTime) {
			t.Errorf("got %+v, want %+v", got, want)
		}
	}
}

// Another reference is for a record under which nothing can have been created.
func TestRetakeWithAnotherReference(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	record := f.claimed()
	if _, err := f.Retake(t.Context(), record, attemptFor("ACME-2")); !apierrors.IsInvalid(err) {
		t.Errorf("while an attempt may have created an application: got %v, want Invalid", err)
	}
	conclusion := *record.Spec.Attempt
	conclusion.Sent = false
	record, err := f.Conclude(t.Context(), record, conclusion)
	f.check(err)
	record, err = f.Retake(t.Context(), record, attemptFor("ACME-2"))
	f.check(err)
	if record.Spec.Reference != "ACME-2" || !record.Spec.Attempt.Sent {
		t.Errorf("the record is %+v, want an open attempt with ACME-2", record.Spec)
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
	if record, err := f.Get(t.Context(), f.key("acme")); record != nil || err != nil {
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
	await.Until(f.T, func() (bool, string) {
		probe := &v1alpha1.ApplicationRecord{
			ObjectMeta: metav1.ObjectMeta{Namespace: f.namespace, GenerateName: "probe-"},
			Spec:       attemptFor(reference),
		}
		f.check(f.client.Create(f.Context(), probe, client.FieldValidation(metav1.FieldValidationIgnore)))
		return done(probe.Spec.Attempt.Inputs != ""), "the API server still uses the previous CRD"
	})
}

// The deposit of an id starts a subscription. Of two operators that start another one, one does.
func TestSubscription(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	record := f.claimed()
	first := v1alpha1.RecordedSubscription{StartedTime: ledger.MicroTime(time.Now()), Ordinal: 1}
	record, err := f.Deposit(t.Context(), record, record.Spec.MandateRef.UID, 7, metav1.Now(), &first)
	f.check(err)
	refused, err := f.RefuseSubscription(t.Context(), record)
	f.check(err)
	if got := refused.Spec.Subscription; got == nil || !got.Refused || got.Ordinal != 1 {
		t.Errorf("the record has %+v", got)
	}
	second := v1alpha1.RecordedSubscription{StartedTime: ledger.MicroTime(time.Now()), Ordinal: 2}
	if _, err := f.StartSubscription(t.Context(), record, second); !errors.Is(err, ledger.ErrLost) {
		t.Errorf("a subscription started on a record that has changed: %v", err)
	}
	started, err := f.StartSubscription(t.Context(), refused, second)
	f.check(err)
	if got := started.Spec.Subscription; got == nil || got.Refused || got.Ordinal != 2 {
		t.Errorf("the record has %+v", got)
	}
}

// A record keeps its salt, whatever is made of it: digests that people have named stay the same.
func TestSalt(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	record := f.claimed()
	if record.Spec.Salt == attemptFor(reference).Salt {
		t.Error("two salts are equal")
	}
	other := attemptFor(reference) // which has another salt
	retaken, err := f.Retake(t.Context(), record, other)
	f.check(err)
	other.ApplicationID = new(int64(7))
	adopted, err := f.Adopt(t.Context(), f.key("acme"), retaken, other)
	f.check(err)
	if adopted.Spec.Salt != record.Spec.Salt {
		t.Errorf("the salt changed from %q to %q", record.Spec.Salt, adopted.Spec.Salt)
	}
}
