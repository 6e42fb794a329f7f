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

// book is a ledger on the real API server, in a namespace of its own.
type book struct {
	*testing.T
	ledger.Ledger
	client    client.Client
	namespace string
}

func newBook(t *testing.T) *book {
	t.Helper()
	scheme := runtime.NewScheme()
	check(t, errors.Join(v1alpha1.AddToScheme(scheme), corev1.AddToScheme(scheme), apiextensionsv1.AddToScheme(scheme)))
	c, err := client.New(env.Config, client.Options{Scheme: scheme})
	check(t, err)
	strict := client.WithFieldValidation(c, metav1.FieldValidationStrict)
	return &book{T: t, Ledger: ledger.Ledger{Reader: c, Writer: strict}, client: c, namespace: env.Namespace(t)}
}

func check(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

func (b *book) claim(mandate string) (*v1alpha1.ApplicationRecord, error) {
	attempt := ledger.NewAttempt("inputs", time.Now())
	return b.Claim(b.Context(), b.namespace, v1alpha1.ApplicationRecordSpec{
		ServiceURL: serviceURL, Reference: reference, Attempt: &attempt,
		MandateRef: v1alpha1.RecordedMandate{Name: mandate, UID: types.UID("uid-of-" + mandate)},
	})
}

func (b *book) claimed() *v1alpha1.ApplicationRecord {
	b.Helper()
	record, err := b.claim("acme")
	check(b.T, err)
	return record
}

func (b *book) label(record *v1alpha1.ApplicationRecord) {
	b.Helper()
	labelled := record.DeepCopy()
	labelled.Labels = map[string]string{"team": "onboarding"}
	check(b.T, b.client.Patch(b.Context(), labelled, client.MergeFrom(record)))
}

func (b *book) retake(record *v1alpha1.ApplicationRecord) {
	b.Helper()
	attempt := ledger.NewAttempt("inputs", time.Now())
	attempt.Ordinal = record.Spec.Attempt.Ordinal + 1
	_, err := b.Retake(b.Context(), record, "another-uid", attempt)
	check(b.T, err)
}

func (b *book) deposit(record *v1alpha1.ApplicationRecord, id int64) {
	b.Helper()
	_, err := b.Deposit(b.Context(), record, id, metav1.Now())
	check(b.T, err)
}

// Of all that may have happened to a record since it was read, each write has to notice what concerns it: as ErrLost, by
// which whoever writes knows to look again.
func TestLost(t *testing.T) {
	t.Parallel()
	const (
		untouched, labelled, retaken, deposited, deleted, replaced = "untouched", "labelled", "retaken", "deposited", "deleted", "deleted and claimed by another Mandate"
	)
	meanwhile := map[string]func(*book, *v1alpha1.ApplicationRecord){
		untouched: func(*book, *v1alpha1.ApplicationRecord) {},
		labelled:  (*book).label,
		retaken:   (*book).retake,
		deposited: func(b *book, record *v1alpha1.ApplicationRecord) { b.deposit(record, 7) },
		deleted:   func(b *book, record *v1alpha1.ApplicationRecord) { check(b.T, b.client.Delete(b.Context(), record)) },
		replaced: func(b *book, record *v1alpha1.ApplicationRecord) {
			check(b.T, b.client.Delete(b.Context(), record))
			_, err := b.claim("other")
			check(b.T, err)
		},
	}
	cases := map[string]struct {
		reason string
		write  func(*book, *v1alpha1.ApplicationRecord) error
		lost   map[string]bool
	}{
		"claim": {
			reason: "the record is the lock",
			write: func(b *book, _ *v1alpha1.ApplicationRecord) error {
				_, err := b.claim("other")
				return err
			},
			lost: map[string]bool{untouched: true, retaken: true, deleted: false},
		},
		"retake": {
			reason: "it follows from all of what was read",
			write: func(b *book, record *v1alpha1.ApplicationRecord) error {
				_, err := b.Retake(b.Context(), record, "uid-of-acme", ledger.NewAttempt("inputs", time.Now()))
				return err
			},
			lost: map[string]bool{untouched: false, labelled: true, retaken: true, deposited: true, deleted: true, replaced: true},
		},
		"release": {
			reason: "an attempt may have begun",
			write:  func(b *book, record *v1alpha1.ApplicationRecord) error { return b.Release(b.Context(), record) },
			lost:   map[string]bool{untouched: false, labelled: true, retaken: true, deposited: true, deleted: true, replaced: true},
		},
		"conclude": {
			reason: "only another attempt takes the record from this one",
			write: func(b *book, record *v1alpha1.ApplicationRecord) error {
				conclusion := *record.Spec.Attempt
				conclusion.Sent, conclusion.Verdict = false, v1alpha1.VerdictRefused
				_, err := b.Conclude(b.Context(), record, conclusion)
				return err
			},
			lost: map[string]bool{untouched: false, labelled: false, retaken: true, deleted: true, replaced: true},
		},
		"deposit": {
			reason: "only another attempt takes the record from this one, and an id may be stored twice",
			write: func(b *book, record *v1alpha1.ApplicationRecord) error {
				_, err := b.Deposit(b.Context(), record, 7, metav1.Now())
				return err
			},
			lost: map[string]bool{untouched: false, labelled: false, deposited: false, retaken: true, deleted: true, replaced: true},
		},
	}
	for name, c := range cases {
		for change, lost := range c.lost {
			t.Run(name+", "+change, func(t *testing.T) {
				t.Parallel()
				b := newBook(t)
				record := b.claimed()
				meanwhile[change](b, record)
				switch err := c.write(b, record); {
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
	b := newBook(t)
	record := b.claimed()
	b.deposit(record, 7)
	if _, err := b.Deposit(t.Context(), record, 8, metav1.Now()); !apierrors.IsInvalid(err) || errors.Is(err, ledger.ErrLost) {
		t.Errorf("got %v, want Invalid: looking again would not help", err)
	}
}

func TestClaimInATerminatingNamespace(t *testing.T) {
	t.Parallel()
	b := newBook(t)
	check(t, b.client.Delete(t.Context(), &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: b.namespace}}))
	if _, err := b.claim("acme"); !errors.Is(err, ledger.ErrNoNamespace) {
		t.Errorf("in a namespace that is being deleted: got %v, want ErrNoNamespace", err)
	}
	b.namespace = "never-there"
	if _, err := b.claim("acme"); !errors.Is(err, ledger.ErrNoNamespace) {
		t.Errorf("in a namespace that is gone: got %v, want ErrNoNamespace", err)
	}
}

func TestGet(t *testing.T) {
	t.Parallel()
	b := newBook(t)
	if record, err := b.Get(t.Context(), b.namespace, serviceURL, reference); record != nil || err != nil {
		t.Errorf("without a record: got %v, %v", record, err)
	}
	claimed := b.claimed()
	record, err := b.Get(t.Context(), b.namespace, serviceURL, reference)
	check(t, err)
	if record.Spec.Attempt.Nonce != claimed.Spec.Attempt.Nonce || !record.Spec.Attempt.StartedTime.Equal(&claimed.Spec.Attempt.StartedTime) {
		t.Errorf("read %+v, want what was written: %+v", record.Spec.Attempt, claimed.Spec.Attempt)
	}
	forged := &v1alpha1.ApplicationRecord{
		ObjectMeta: metav1.ObjectMeta{Namespace: b.namespace, Name: ledger.Name(serviceURL, "ACME-2")},
		Spec:       claimed.Spec,
	}
	check(t, b.client.Create(t.Context(), forged))
	if record, err := b.Get(t.Context(), b.namespace, serviceURL, "ACME-2"); err == nil {
		t.Errorf("a record that does not belong to its name was taken: %+v", record)
	}
}

func TestOfMandate(t *testing.T) {
	t.Parallel()
	b := newBook(t)
	record := b.claimed()
	b.found("acme", 1)
	b.found("other", 0)
	b.retake(record)
	b.found("acme", 1)
	long := strings.Repeat("x", 253)
	for i, name := range []string{long, long[1:] + "y"} {
		spec := record.Spec
		spec.MandateRef.Name, spec.Reference = name, strconv.Itoa(i)
		_, err := b.Claim(t.Context(), b.namespace, spec)
		check(t, err)
	}
	b.found(long, 1)
}

func (b *book) found(mandate string, want int) {
	b.Helper()
	if records, err := b.OfMandate(b.Context(), b.namespace, mandate); err != nil || len(records) != want {
		b.Errorf("%d records of the Mandate %s, want %d (%v)", len(records), mandate, want, err)
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
		if a, b := ledger.NormalURL(pair[0]), ledger.NormalURL(pair[1]); a != b {
			t.Errorf("%s and %s are one service, and two records: %s, %s", pair[0], pair[1], a, b)
		}
	}
	different := map[string]string{}
	for _, key := range [][2]string{
		{"https://idv.example.com", "a"}, {"https://idv.example.com", "A"}, {"https://idv.example.com/a", "a"}, {"http://idv.example.com", "a"},
		{"https://idv.example.com:8443", "a"}, {"https://idv.example.com/A", "a"},
	} {
		name := ledger.Name(ledger.NormalURL(key[0]), key[1])
		if other, taken := different[name]; taken {
			t.Errorf("%v and %s have one record", key, other)
		}
		different[name] = key[0] + " " + key[1]
	}
}

// An older CRD drops a field of the attempt. Not parallel: the CRD is everybody's.
func TestOlderCRD(t *testing.T) {
	b := newBook(t)
	restore := b.forgetField("inputs")
	defer restore()

	if _, err := b.claim("acme"); !apierrors.IsBadRequest(err) {
		t.Errorf("a strict writer got %v, want that the API server refuses the unknown field", err)
	}
	b.Writer = client.WithFieldValidation(b.client, metav1.FieldValidationIgnore)
	if _, err := b.claim("acme"); !errors.Is(err, ledger.ErrIncomplete) {
		t.Errorf("got %v, want ErrIncomplete", err)
	}
	if record, err := b.Get(t.Context(), b.namespace, serviceURL, reference); record != nil || err != nil {
		t.Errorf("a record that nothing was sent for was left behind: %+v, %v", record, err)
	}
}

// forgetField takes a field of attempt out of the CRD, waits until the API server drops it, and gives the way back.
func (b *book) forgetField(field string) (restore func()) {
	b.Helper()
	const name = "applicationrecords.idv.mandate.io"
	crd := &apiextensionsv1.CustomResourceDefinition{}
	check(b.T, b.client.Get(b.Context(), types.NamespacedName{Name: name}, crd))
	complete := crd.DeepCopy()
	delete(crd.Spec.Versions[0].Schema.OpenAPIV3Schema.Properties["spec"].Properties["attempt"].Properties, field)
	check(b.T, b.client.Update(b.Context(), crd))
	b.await(func(kept bool) bool { return !kept })
	return func() {
		complete.ResourceVersion = crd.ResourceVersion
		check(b.T, b.client.Update(b.Context(), complete))
		b.await(func(kept bool) bool { return kept })
	}
}

// await waits until the API server keeps the inputs of an attempt, or does not.
func (b *book) await(done func(kept bool) bool) {
	b.Helper()
	testenv.Eventually(b.T, time.Minute, func() (bool, string) {
		attempt := ledger.NewAttempt("inputs", time.Now())
		probe := &v1alpha1.ApplicationRecord{
			ObjectMeta: metav1.ObjectMeta{Namespace: b.namespace, GenerateName: "probe-"},
			Spec: v1alpha1.ApplicationRecordSpec{
				ServiceURL: serviceURL, Reference: reference, Attempt: &attempt, MandateRef: v1alpha1.RecordedMandate{Name: "probe", UID: "probe"},
			},
		}
		check(b.T, b.client.Create(b.Context(), probe, client.FieldValidation(metav1.FieldValidationIgnore)))
		return done(probe.Spec.Attempt.Inputs != ""), "the API server does not take the CRD over"
	})
}
