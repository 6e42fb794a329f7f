package ledger_test

import (
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/mandate-io/idv/api/v1alpha1"
	"github.com/mandate-io/idv/internal/test/await"
	"github.com/mandate-io/idv/internal/test/testenv"
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
	return f.Claim(f.Context(), f.key(mandate), specFor(reference))
}

func (f *fixture) key(mandate string) types.NamespacedName {
	return types.NamespacedName{Namespace: f.namespace, Name: mandate}
}

// specFor is what is recorded of a create with a reference.
func specFor(reference string) v1alpha1.ApplicationRecordSpec {
	create := ledger.New(v1alpha1.CallCreate, time.Now())
	create.Seq, create.Inputs = 1, "inputs"
	return v1alpha1.ApplicationRecordSpec{
		Salt: ledger.NewSalt(), Account: account, ServiceURL: serviceURL, Reference: reference,
		ServiceRef: ownService, Calls: []v1alpha1.Call{create}, MandateRef: v1alpha1.RecordedMandate{UID: "uid"},
	}
}

func (f *fixture) claimed() *v1alpha1.ApplicationRecord {
	f.Helper()
	record, err := f.claim("acme")
	f.check(err)
	return record
}

// begin records a call, which must succeed, and gives it as it is recorded.
func (f *fixture) begin(
	record *v1alpha1.ApplicationRecord, call v1alpha1.Call,
) (*v1alpha1.ApplicationRecord, *v1alpha1.Call) {
	f.Helper()
	begun, err := f.Begin(f.Context(), record, call, nil)
	f.check(err)
	return begun, ledger.Find(begun, func(c *v1alpha1.Call) bool { return c.Nonce == call.Nonce })
}

// end records the result of a call, which must succeed.
func (f *fixture) end(
	record *v1alpha1.ApplicationRecord, call *v1alpha1.Call, result v1alpha1.CallResult, sends int32,
) *v1alpha1.ApplicationRecord {
	f.Helper()
	ended := ledger.Ended(*call, result, time.Now())
	ended.Sends = sends
	record, err := f.End(f.Context(), record, ended)
	f.check(err)
	return record
}

// notCreated is a record whose create was not sent.
func (f *fixture) notCreated() *v1alpha1.ApplicationRecord {
	record := f.claimed()
	return f.end(record, ledger.CreateOf(record), v1alpha1.CallNotSent, 0)
}

func (f *fixture) deposit(record *v1alpha1.ApplicationRecord, id int64) *v1alpha1.ApplicationRecord {
	f.Helper()
	deposited, err := f.Deposit(f.Context(), record, createdNow(record.Spec.MandateRef.UID, id), v1alpha1.CallDone)
	f.check(err)
	return deposited
}

// createdNow is what a create has made.
func createdNow(mandate types.UID, id int64) v1alpha1.ApplicationRecordSpec {
	now := metav1.Now()
	return v1alpha1.ApplicationRecordSpec{
		MandateRef: v1alpha1.RecordedMandate{UID: mandate}, ApplicationID: &id, CreatedTime: &now,
	}
}

// What may become of a record after it was read.
const (
	unchanged = "unchanged"
	labelled  = "labelled"
	sentAgain = "sent again"
	ended     = "ended"
	deposited = "deposited"
	deleted   = "deleted"
	replaced  = "deleted and claimed again"
)

// change lets something become of a record.
func (f *fixture) change(what string, record *v1alpha1.ApplicationRecord) {
	f.Helper()
	switch what {
	case labelled:
		changed := record.DeepCopy()
		changed.Labels = map[string]string{"team": "onboarding"}
		f.check(f.client.Patch(f.Context(), changed, client.MergeFrom(record)))
	case sentAgain:
		f.begin(record, ledger.Again(ledger.CreateOf(record), time.Now()))
	case ended:
		f.end(record, ledger.CreateOf(record), v1alpha1.CallRefused, 0)
	case deposited:
		f.deposit(record, 7)
	case deleted, replaced:
		f.check(f.client.Delete(f.Context(), record))
		if what == replaced {
			f.claimed()
		}
	}
}

// A record may change in different ways after it was read. Each write fails with ErrLost if a change concerns it.
func TestLost(t *testing.T) {
	t.Parallel()
	whole := map[string]bool{
		unchanged: false, labelled: true, sentAgain: true, ended: true, deposited: true, deleted: true, replaced: true,
	}
	cases := map[string]struct {
		reason string
		write  func(*fixture, *v1alpha1.ApplicationRecord) (*v1alpha1.ApplicationRecord, error)
		lost   map[string]bool
	}{
		"claim": {
			reason: "the record is a lock",
			write: func(f *fixture, _ *v1alpha1.ApplicationRecord) (*v1alpha1.ApplicationRecord, error) {
				return f.claim("acme")
			},
			lost: map[string]bool{unchanged: true, sentAgain: true, deleted: false},
		},
		"begin": {
			reason: "the decision depends on the whole record",
			write: func(f *fixture, record *v1alpha1.ApplicationRecord) (*v1alpha1.ApplicationRecord, error) {
				return f.Begin(f.Context(), record, resend("first"), nil)
			},
			lost: whole,
		},
		"send again": {
			reason: "the decision depends on the whole record",
			write: func(f *fixture, record *v1alpha1.ApplicationRecord) (*v1alpha1.ApplicationRecord, error) {
				return f.Begin(f.Context(), record, ledger.Again(ledger.CreateOf(record), time.Now()), nil)
			},
			lost: whole,
		},
		"adopt": {
			reason: "the decision depends on the whole record",
			write: func(f *fixture, record *v1alpha1.ApplicationRecord) (*v1alpha1.ApplicationRecord, error) {
				spec := specFor(reference)
				spec.ApplicationID = new(int64(7))
				return f.Adopt(f.Context(), f.key("acme"), record, spec)
			},
			lost: whole,
		},
		"end a call of another process": {
			reason: "the other process may have recorded what became of it",
			write: func(f *fixture, record *v1alpha1.ApplicationRecord) (*v1alpha1.ApplicationRecord, error) {
				call := ledger.Ended(*ledger.CreateOf(record), v1alpha1.CallUnknown, time.Now())
				return f.EndOther(f.Context(), record, call)
			},
			lost: whole,
		},
		"end": {
			reason: "the answer belongs to the request of this nonce, whatever else has changed",
			write: func(f *fixture, record *v1alpha1.ApplicationRecord) (*v1alpha1.ApplicationRecord, error) {
				return f.End(f.Context(), record, ledger.Ended(*ledger.CreateOf(record), v1alpha1.CallUnknown, time.Now()))
			},
			lost: map[string]bool{
				unchanged: false, labelled: false, ended: false, sentAgain: true, deleted: false, replaced: true,
			},
		},
		"deposit": {
			reason: "only another request replaces this one, and an id may be stored twice",
			write: func(f *fixture, record *v1alpha1.ApplicationRecord) (*v1alpha1.ApplicationRecord, error) {
				return f.Deposit(f.Context(), record, createdNow("uid", 7), v1alpha1.CallDone)
			},
			lost: map[string]bool{
				unchanged: false, labelled: false, deposited: false, sentAgain: true, deleted: false, replaced: true,
			},
		},
	}
	for name, c := range cases {
		for change, lost := range c.lost {
			t.Run(name+", "+change, func(t *testing.T) {
				t.Parallel()
				f := newFixture(t)
				record := f.claimed()
				f.change(change, record)
				switch _, err := c.write(f, record); {
				case lost && !errors.Is(err, ledger.ErrLost):
					t.Errorf("got %v, want ErrLost: %s", err, c.reason)
				case !lost && err != nil:
					t.Errorf("got %v, want no error: %s", err, c.reason)
				}
			})
		}
	}
}

// What was sent is known nowhere else: a record that somebody has deleted meanwhile is made again, with what the answer
// says, and no more. Where nothing was sent, it is not.
func TestEndOfADeletedRecord(t *testing.T) {
	t.Parallel()
	ends := func(sends int32) func(*fixture, *v1alpha1.ApplicationRecord) error {
		return func(f *fixture, record *v1alpha1.ApplicationRecord) error {
			call := ledger.Ended(*ledger.CreateOf(record), v1alpha1.CallAccepted, time.Now())
			call.Sends = sends
			_, err := f.End(f.Context(), record, call)
			return err
		}
	}
	for name, c := range map[string]struct {
		end     func(*fixture, *v1alpha1.ApplicationRecord) error
		again   bool
		wantsID int64
	}{
		"nothing was sent": {end: ends(0)},
		"accepted":         {end: ends(1), again: true},
		"accepted, with its id": {
			end: func(f *fixture, record *v1alpha1.ApplicationRecord) error {
				_, err := f.Deposit(f.Context(), record, createdNow("uid", 7), v1alpha1.CallAccepted)
				return err
			},
			again: true, wantsID: 7,
		},
	} {
		f := newFixture(t)
		record := f.claimed()
		f.change(deleted, record)
		if err := c.end(f, record); errors.Is(err, ledger.ErrLost) == c.again {
			t.Errorf("%s: error %v", name, err)
		}
		found, err := f.Get(f.Context(), f.key("acme"))
		f.check(err)
		switch create := ledger.CreateOf(found); {
		case !c.again && found != nil:
			t.Errorf("%s: the record is %+v", name, found.Spec)
		case c.again && (create == nil || create.Result != v1alpha1.CallAccepted || create.Sends != 1):
			t.Errorf("%s: the record has %+v, want an accepted create", name, create)
		case c.again && (ptr.Deref(found.Spec.ApplicationID, 0) != c.wantsID || ledger.IsRestored(found, "")):
			t.Errorf("%s: the record is %+v", name, found.Spec)
		}
	}
}

func TestSecondIDIsRefused(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	record := f.claimed()
	f.deposit(record, 7)
	_, err := f.Deposit(t.Context(), record, createdNow("uid", 8), v1alpha1.CallDone)
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
		if diff := cmp.Diff(claimed.Spec, record.Spec); diff != "" {
			t.Errorf("the record is not as it was claimed (-claimed +read):\n%s", diff)
		}
	}
}

// Another reference is for a record under which nothing can have been created.
func TestSendAgainWithAnotherReference(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	other := specFor("ACME-2")
	record := f.claimed()
	again := ledger.Again(ledger.CreateOf(record), time.Now())
	if _, err := f.Begin(t.Context(), record, again, &other); !apierrors.IsInvalid(err) {
		t.Errorf("while a create may have made an application: got %v, want Invalid", err)
	}
	record = f.end(record, ledger.CreateOf(record), v1alpha1.CallNotSent, 0)
	again = ledger.Again(ledger.CreateOf(record), time.Now())
	record, err := f.Begin(t.Context(), record, again, &other)
	f.check(err)
	if create := ledger.CreateOf(record); record.Spec.Reference != "ACME-2" || create.Sends != 1 || create.Result != "" {
		t.Errorf("the record is %+v, want an open create with ACME-2", record.Spec)
	}
}

// An older CRD drops a field of the calls. The test is not parallel, because all tests share the CRD.
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
		t.Errorf("the record of a create that was not sent still exists: %+v, %v", record, err)
	}
	adopted := specFor(reference)
	adopted.ApplicationID, adopted.Calls = new(int64(7)), nil
	record, err := f.Claim(t.Context(), f.key("acme"), adopted)
	f.check(err)
	call := resend("first")
	call.Inputs = "inputs"
	if _, err := f.Begin(t.Context(), record, call, nil); !errors.Is(err, ledger.ErrIncomplete) {
		t.Errorf("a call was begun: got %v, want ErrIncomplete", err)
	}
}

// dropField removes a field of the calls from the CRD, and waits until the API server drops it. restore undoes this.
func (f *fixture) dropField(field string) (restore func()) {
	f.Helper()
	const name = "applicationrecords.idv.mandate.io"
	crd := &apiextensionsv1.CustomResourceDefinition{}
	f.check(f.client.Get(f.Context(), types.NamespacedName{Name: name}, crd))
	complete := crd.DeepCopy()
	calls := crd.Spec.Versions[0].Schema.OpenAPIV3Schema.Properties["spec"].Properties["calls"]
	delete(calls.Items.Schema.Properties, field)
	f.check(f.client.Update(f.Context(), crd))
	f.waitFor(func(kept bool) bool { return !kept })
	return func() {
		complete.ResourceVersion = crd.ResourceVersion
		f.check(f.client.Update(f.Context(), complete))
		f.waitFor(func(kept bool) bool { return kept })
	}
}

// waitFor waits until the API server keeps the inputs of a create, or drops them.
func (f *fixture) waitFor(done func(kept bool) bool) {
	f.Helper()
	await.Until(f.T, func() (bool, string) {
		probe := &v1alpha1.ApplicationRecord{
			ObjectMeta: metav1.ObjectMeta{Namespace: f.namespace, GenerateName: "probe-"},
			Spec:       specFor(reference),
		}
		f.check(f.client.Create(f.Context(), probe, client.FieldValidation(metav1.FieldValidationIgnore)))
		return done(probe.Spec.Calls[0].Inputs != ""), "the API server still uses the previous CRD"
	})
}

// A record keeps its salt, whatever is made of it: digests that people have named stay the same.
func TestSalt(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	record := f.claimed()
	if record.Spec.Salt == specFor(reference).Salt {
		t.Error("two salts are equal")
	}
	other := specFor(reference) // which has another salt
	again, err := f.Begin(t.Context(), record, ledger.Again(ledger.CreateOf(record), time.Now()), &other)
	f.check(err)
	other.ApplicationID = new(int64(7))
	adopted, err := f.Adopt(t.Context(), f.key("acme"), again, other)
	f.check(err)
	if adopted.Spec.Salt != record.Spec.Salt {
		t.Errorf("the salt changed from %q to %q", record.Spec.Salt, adopted.Spec.Salt)
	}
}
