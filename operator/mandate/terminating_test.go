package mandate

import (
	"context"
	"errors"
	"net/http"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/mandate-io/idv/api/v1alpha1"
	idv "github.com/mandate-io/idv/internal/client"
	"github.com/mandate-io/idv/internal/test/explore"
	"github.com/mandate-io/idv/operator/ledger"
)

// terminating is an API server whose namespace is being deleted: the records are gone, and nothing can be created. The
// Mandate stays for its finalizer.
type terminating struct {
	client.Client
	mandate *v1alpha1.Mandate
	patched []byte // the last patch of the status
}

var errGone = apierrors.NewNotFound(schema.GroupResource{Resource: "applicationrecords"}, "acme")

func (a *terminating) Get(_ context.Context, _ client.ObjectKey, into client.Object, _ ...client.GetOption) error {
	if mandate, ok := into.(*v1alpha1.Mandate); ok {
		a.mandate.DeepCopyInto(mandate)
		return nil
	}
	return errGone
}

func (*terminating) Patch(context.Context, client.Object, client.Patch, ...client.PatchOption) error {
	return errGone
}

func (*terminating) Create(context.Context, client.Object, ...client.CreateOption) error {
	return &apierrors.StatusError{ErrStatus: metav1.Status{
		Code: http.StatusForbidden, Reason: metav1.StatusReasonForbidden,
		Details: &metav1.StatusDetails{Causes: []metav1.StatusCause{{Type: corev1.NamespaceTerminatingCause}}},
	}}
}

// goingMandate is one of a namespace that is being deleted, whose application is to be deleted with it.
func goingMandate() *v1alpha1.Mandate {
	m := &v1alpha1.Mandate{ObjectMeta: metav1.ObjectMeta{
		Namespace: namespace, Name: "acme", UID: "1", Generation: 2, ResourceVersion: "1",
		DeletionTimestamp: new(metav1.Now()), Finalizers: []string{v1alpha1.ApplicationFinalizer},
	}}
	m.Spec.DeletionPolicy = v1alpha1.DeletionPolicyDelete
	return m
}

// In a namespace that is being deleted, the deletionPolicy is carried out without a record, and its call is sent once a
// reconciliation.
func TestDeletionInATerminatingNamespace(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		attempt attemptFacts
		want    decision
	}{
		"not begun":  {attemptFacts{}, decision{Step: stepVerify}},
		"done":       {attemptFacts{outcome: idv.Done}, wait(v1alpha1.ReasonDeletionWaiting)},
		"done later": {attemptFacts{outcome: idv.Accepted}, wait(v1alpha1.ReasonDeletionWaiting)},
		"refused": {
			attemptFacts{outcome: idv.Refused, answer: v1alpha1.AnswerRefused}, wait(v1alpha1.ReasonDeletionRefused),
		},
		"forbidden": {
			attemptFacts{outcome: idv.Forbidden, answer: v1alpha1.AnswerForbidden}, wait(v1alpha1.ReasonDeletionRefused),
		},
		"no connection": {
			attemptFacts{outcome: idv.NotSent, answer: v1alpha1.AnswerNotSent}, wait(v1alpha1.ReasonDeletionWaiting),
		},
		"deleted by then": {attemptFacts{outcome: idv.Done, phase: attemptAnswered}, decision{Step: stepFinalizer}},
	} {
		api := &terminating{mandate: goingMandate()}
		config := Config{
			Live: api, Ledger: ledger.Ledger{Reader: api, Writer: api}, Clock: explore.Clock{Time: now},
		}
		r := connected(NewReconciler(config), scope{mandate: goingMandate(), reference: "R"}, fakeService{})
		r.facts = bound(func(f *facts) { f.deletion = deletion() })
		if got := r.decide(); got.Step != stepBegin {
			t.Fatalf("%s: it begins with %+v", name, got)
		}
		if err := r.begin(t.Context(), nextOrder(r.facts)); err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		r.facts.attempt.started = r.facts.now
		if test.attempt != (attemptFacts{}) {
			if test.attempt.phase == attemptAnswered {
				r.facts.application.lookup = applicationMissing
			}
			test.attempt.kind = r.facts.attempt.kind
			test.attempt.phase = attemptAnswered
			r.facts.attempt = test.attempt
			if err := r.conclude(t.Context()); err != nil {
				t.Fatalf("%s: %v", name, err)
			}
		}
		if got := r.decide(); got != test.want {
			t.Errorf("%s: decide gives %+v, want %+v", name, got, test.want)
		}
	}
}

// archived is a Mandate whose application is to be archived with its namespace, and what its operators work with.
type archived struct {
	mandate *v1alpha1.Mandate
	config  Config
}

// newArchived makes one. err, if there is one, comes instead of the answer to a patch of the Mandate.
func newArchived(err error) archived {
	m := goingMandate()
	m.Spec.DeletionPolicy = v1alpha1.DeletionPolicyArchive
	api := &terminating{mandate: m}
	return archived{m, Config{
		Live: api, Metadata: terminatingMetadata{api: api, err: err}, Ledger: ledger.Ledger{Reader: api, Writer: api},
		Clock: explore.Clock{Time: now},
	}}
}

// reconcile is a reconciliation whose cache shows the Mandate as it is. It has looked for a record.
func (a archived) reconcile(operator *Reconciler) *reconciliation {
	cached := a.mandate.DeepCopy()
	r := connected(operator, scope{mandate: cached, reference: "R"}, fakeService{})
	r.facts = bound(func(f *facts) { f.deletion = newDeletionFacts(cached, time.Hour) })
	r.setRecord(r.record)
	return r
}

// Archiving may e-mail individuals. Where no record can say that it was begun, the Mandate does, and another process
// does not begin it again, whatever became of it.
func TestArchivingInATerminatingNamespace(t *testing.T) {
	t.Parallel()
	a := newArchived(nil)
	first, stale := a.reconcile(NewReconciler(a.config)), a.reconcile(NewReconciler(a.config))
	if got := first.decide(); got.Step != stepBegin {
		t.Fatalf("it begins with %+v", got)
	}
	if err := first.begin(t.Context(), nextOrder(first.facts)); err != nil || first.decide().Step != stepVerify {
		t.Fatalf("then %+v, %v", first.decide(), err)
	}
	if got := a.reconcile(NewReconciler(a.config)).decide(); got != wait(v1alpha1.ReasonDeletionWaiting) {
		t.Errorf("after a restart: %+v, want that it only reads", got)
	}
	if err := stale.begin(t.Context(), archiveOrder()); err != nil || stale.facts.attempt.phase != attemptNone {
		t.Errorf("a stale cache: %+v, %v, want that nothing begins", stale.facts.attempt, err)
	}
}

// Archiving that was begun without a record, and of which nothing was sent, is begun again. The Mandate still has the
// mark of the first time.
func TestArchivingNotSentInATerminatingNamespace(t *testing.T) {
	t.Parallel()
	again, wait := decision{Step: stepBegin}, wait(v1alpha1.ReasonDeletionWaiting)
	for name, test := range map[string]struct {
		attempt attemptFacts
		lost    error // instead of the answer to the patch that marks the Mandate
		want    decision
	}{
		"withdrawn":     {attempt: attemptFacts{phase: attemptWithdrawn}, want: again},
		"refused":       {attempt: answered(idv.Refused, v1alpha1.AnswerRefused), want: again},
		"no connection": {attempt: answered(idv.NotSent, v1alpha1.AnswerNotSent), want: again},
		"begun unseen":  {lost: apierrors.NewTimeoutError("no answer", 1), want: again},
		"no answer":     {attempt: answered(idv.Unknown, ""), want: wait},
		"done later":    {attempt: answered(idv.Accepted, ""), want: wait},
	} {
		a := newArchived(test.lost)
		operator := NewReconciler(a.config)
		first := a.reconcile(operator)
		if err := first.begin(t.Context(), archiveOrder()); !errors.Is(err, test.lost) {
			t.Fatalf("%s: it begins with %v", name, err)
		}
		if a.mandate.Annotations[v1alpha1.ArchivingAnnotation] == "" {
			t.Fatalf("%s: the Mandate is not marked", name)
		}
		if test.lost == nil {
			first.facts.attempt = test.attempt
			first.facts.attempt.kind = v1alpha1.CallArchive
			if err := first.conclude(t.Context()); err != nil {
				t.Fatalf("%s: %v", name, err)
			}
		}
		if got := a.reconcile(operator).decide(); got != test.want {
			t.Errorf("%s: decide gives %+v, want %+v", name, got, test.want)
		}
	}
}

func answered(outcome idv.Outcome, answer v1alpha1.CallAnswer) attemptFacts {
	return attemptFacts{phase: attemptAnswered, outcome: outcome, answer: answer}
}

// terminatingMetadata patches the Mandate, which still works, unless it was changed since it was read.
type terminatingMetadata struct {
	client.Writer
	api *terminating
	err error // instead of the answer
}

func (w terminatingMetadata) Patch(
	_ context.Context, object client.Object, _ client.Patch, _ ...client.PatchOption,
) error {
	if object.GetResourceVersion() != w.api.mandate.ResourceVersion {
		return apierrors.NewConflict(schema.GroupResource{Resource: "mandates"}, object.GetName(), nil)
	}
	w.api.mandate.Annotations = object.GetAnnotations()
	w.api.mandate.ResourceVersion += "0"
	object.SetResourceVersion(w.api.mandate.ResourceVersion)
	return w.err
}

// terminatingStatus writes the status of the Mandate, which still works.
type terminatingStatus struct {
	client.SubResourceWriter
	api *terminating
}

func (w terminatingStatus) Patch(
	_ context.Context, object client.Object, patch client.Patch, _ ...client.SubResourcePatchOption,
) (err error) {
	w.api.patched, err = patch.Data(object)
	return err
}

// The id of an application whose namespace is being deleted goes into the status, because the ledger cannot take it.
// The reconciliation goes on with it, so that the deletionPolicy is carried out.
func TestIDInATerminatingNamespace(t *testing.T) {
	m := &v1alpha1.Mandate{ObjectMeta: metav1.ObjectMeta{
		Namespace: namespace, Name: "acme", UID: "1", Generation: 1, ResourceVersion: "1",
	}}
	api := &terminating{mandate: goingMandate()}
	config := Config{Live: api, Ledger: ledger.Ledger{Reader: api, Writer: api}, Status: terminatingStatus{api: api}}
	r := connected(NewReconciler(config), scope{mandate: m, reference: "R"}, nil)
	create := ledger.New(v1alpha1.CallCreate, now)
	create.Seq = 1
	r.record = &v1alpha1.ApplicationRecord{
		ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: "acme"},
		Spec:       v1alpha1.ApplicationRecordSpec{Reference: "R", Calls: []v1alpha1.Call{create}},
	}
	r.facts.attempt = createAnswered(idv.Done)
	r.facts.attempt.id = 4711
	if err := r.creator.deposit(t.Context()); err != nil {
		t.Fatal(err)
	}
	if !strings.Contains(string(api.patched), "4711") {
		t.Errorf("the status was patched with %q, want the id", api.patched)
	}
	d := r.facts.deletion
	if r.facts.id != 4711 || !d.requested || !d.finalizer || d.policy != v1alpha1.DeletionPolicyDelete {
		t.Errorf("it goes on with the application %d and the deletion %+v", r.facts.id, d)
	}
}
