// Package ledger reads and writes ApplicationRecords, which record durably what was sent to the service. Every write is
// conditional, so that of two operators, two Mandates or two stale views exactly one wins.
package ledger

import (
	"context"
	"crypto/rand"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"slices"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/mandate-io/idv/api/v1alpha1"
	"github.com/mandate-io/idv/operator/apierror"
)

var (
	// ErrLost means that the record was changed or deleted since it was read. Nothing was written.
	ErrLost = errors.New("writing an ApplicationRecord: it has changed since it was read")
	// ErrNoNamespace means that the namespace is being deleted, so that nothing can be recorded in it any more.
	ErrNoNamespace = errors.New("creating an ApplicationRecord: the namespace is being deleted")
	// ErrIncomplete means that the API server dropped a field, because the CRD is older than this operator.
	ErrIncomplete = errors.New("writing an ApplicationRecord: the API server dropped a field, " +
		"because the CRD is older than this operator; apply the CRDs of this version")
)

// Ledger reads and writes records without a cache. Writer must use strict field validation.
type Ledger struct {
	Reader client.Reader
	Writer client.Writer
	// Revisions notices when the API server goes backwards; nil: nothing does.
	Revisions *Revisions
	// Namespaces limits what is listed. Empty means all namespaces.
	Namespaces []string
}

// namespaces to list; "" is all.
func (l *Ledger) namespaces() []string {
	if len(l.Namespaces) == 0 {
		return []string{""}
	}
	return l.Namespaces
}

// NewSalt returns a random salt of a record.
func NewSalt() string {
	var salt [16]byte
	_, _ = rand.Read(salt[:]) // it never fails
	return hex.EncodeToString(salt[:])
}

// Get reads the record of a Mandate, which has its name. It returns nil if there is none, and an error if a part of it
// cannot be decoded: without that part, it could say that nothing was sent.
func (l *Ledger) Get(ctx context.Context, mandate types.NamespacedName) (*v1alpha1.ApplicationRecord, error) {
	record := &v1alpha1.ApplicationRecord{}
	err := apierror.CompleteReader{Reader: l.Reader}.Get(ctx, mandate, record)
	if err != nil {
		return nil, client.IgnoreNotFound(err)
	}
	l.Revisions.see(record.ResourceVersion)
	return record, nil
}

// Claim creates the record of a Mandate, with the call that begins with it, or an application that is adopted. Only the
// operator whose Claim succeeds may send the call. Claim fails with ErrLost if the record exists, and with
// ErrNoNamespace if the namespace is being deleted.
func (l *Ledger) Claim(
	ctx context.Context, mandate types.NamespacedName, spec v1alpha1.ApplicationRecordSpec,
) (*v1alpha1.ApplicationRecord, error) {
	record := &v1alpha1.ApplicationRecord{
		ObjectMeta: metav1.ObjectMeta{Namespace: mandate.Namespace, Name: mandate.Name},
		Spec:       *spec.DeepCopy(),
	}
	calls := slices.Clone(record.Spec.Calls)
	before, err := l.Revisions.before()
	if err != nil {
		return nil, err
	}
	err = l.Writer.Create(ctx, record)
	switch {
	case apierrors.IsAlreadyExists(err):
		return nil, ErrLost
	case isNamespaceGone(err):
		return nil, ErrNoNamespace
	case err != nil:
		return nil, err
	}
	err = checkID(record, spec.ApplicationID)
	for i := range calls {
		err = errors.Join(err, checkCall(record, &calls[i]))
	}
	if record.Spec.Salt != spec.Salt {
		err = ErrIncomplete
	}
	if err != nil && spec.ApplicationID == nil {
		// The request was not sent yet. A record without its fields would say that it may have been.
		return nil, errors.Join(err, l.remove(ctx, record))
	}
	err = errors.Join(err, l.Revisions.written(record.ResourceVersion, before))
	if err != nil || spec.ApplicationID == nil {
		return record, err // the next write, the end of the call, has the uid
	}
	return l.patch(ctx, record, unchanged(record))
}

// remove deletes a record. It fails with ErrLost if the record has changed since it was read.
func (l *Ledger) remove(ctx context.Context, record *v1alpha1.ApplicationRecord) error {
	err := l.Writer.Delete(ctx, record, client.Preconditions{UID: &record.UID, ResourceVersion: &record.ResourceVersion})
	if isLost(err) {
		return ErrLost
	}
	return err
}

// Adopt stores that an existing application belongs to a Mandate. record is the current record of the Mandate, nil if
// there is none. Adopt fails with ErrLost if the record has changed since. A create that may have made the application
// is Done: its reference is unique. What was sent, or created, at another service stays on record as it is. The account
// is the one that the application was read with.
func (l *Ledger) Adopt(
	ctx context.Context, mandate types.NamespacedName, record *v1alpha1.ApplicationRecord,
	spec v1alpha1.ApplicationRecordSpec,
) (*v1alpha1.ApplicationRecord, error) {
	if record == nil {
		return l.Claim(ctx, mandate, spec)
	}
	operations := []patchOperation{
		unchanged(record),
		{"add", "/spec/applicationID", spec.ApplicationID},
		{"add", "/spec/mandateRef", spec.MandateRef},
	}
	if record.Spec.ApplicationID == nil {
		operations = append(operations, patchOperation{"add", "/spec/account", spec.Account}) // which has shown it
	}
	if !MayExist(record) {
		operations = append(operations,
			patchOperation{"add", "/spec/serviceURL", spec.ServiceURL},
			patchOperation{"add", "/spec/serviceRef", spec.ServiceRef},
			patchOperation{"add", "/spec/reference", spec.Reference})
	}
	if spec.CreatedTime != nil {
		operations = append(operations, patchOperation{"add", "/spec/createdTime", spec.CreatedTime})
	}
	operations = append(operations, setDigests(record, spec)...)
	if i := indexOf(record, isCreate); i >= 0 && record.Spec.Calls[i].Sends > 0 {
		operations = append(operations, setCall(i, ended(record.Spec.Calls[i], v1alpha1.CallDone)))
	}
	adopted, err := l.patch(ctx, record, operations...)
	if err != nil {
		return nil, err
	}
	return adopted, checkID(adopted, spec.ApplicationID)
}

// setDigests stores the digests of the spec that an application belongs to, once. They are of no use with another salt.
func setDigests(record *v1alpha1.ApplicationRecord, spec v1alpha1.ApplicationRecordSpec) []patchOperation {
	if spec.SpecDigests == nil || record.Spec.SpecDigests != nil || spec.Salt != record.Spec.Salt {
		return nil
	}
	return []patchOperation{{"add", "/spec/specDigests", spec.SpecDigests}}
}

// MayExist reports whether a record has an application, or a create that may have made one.
func MayExist(record *v1alpha1.ApplicationRecord) bool {
	create := CreateOf(record)
	return record.Spec.ApplicationID != nil || create != nil && create.Sends > 0
}

// checkID checks that the API server kept an id.
func checkID(record *v1alpha1.ApplicationRecord, id *int64) error {
	if id != nil && (record.Spec.ApplicationID == nil || *record.Spec.ApplicationID != *id) {
		return ErrIncomplete
	}
	return nil
}

// patchOperation is an operation of a JSON Patch.
type patchOperation struct {
	Op    string `json:"op"`
	Path  string `json:"path"`
	Value any    `json:"value"`
}

func testOperation(path, value string) patchOperation { return patchOperation{"test", path, value} }

// unchanged holds if nobody has written the record since it was read.
func unchanged(record *v1alpha1.ApplicationRecord) patchOperation {
	return testOperation("/metadata/resourceVersion", record.ResourceVersion)
}

func (l *Ledger) patch(
	ctx context.Context, record *v1alpha1.ApplicationRecord, operations ...patchOperation,
) (*v1alpha1.ApplicationRecord, error) {
	if record.Spec.RecordUID == "" {
		operations = append(operations,
			testOperation("/metadata/uid", string(record.UID)), patchOperation{"add", "/spec/recordUID", record.UID})
	}
	data, err := json.Marshal(operations)
	if err != nil {
		return nil, fmt.Errorf("encoding a patch of an ApplicationRecord: %w", err)
	}
	patched := record.DeepCopy()
	err = l.Writer.Patch(ctx, patched, client.RawPatch(types.JSONPatchType, data))
	if isLost(err) && (!apierrors.IsInvalid(err) || !l.isUnchanged(ctx, record)) {
		return nil, ErrLost
	}
	if err == nil {
		l.Revisions.see(patched.ResourceVersion)
	}
	return patched, err
}

// isUnchanged reports whether the record is as it was read, so that all tests of a patch hold, and something else
// refuses it: a webhook can answer as the API server does to a failed test.
func (l *Ledger) isUnchanged(ctx context.Context, record *v1alpha1.ApplicationRecord) bool {
	live, err := l.Get(ctx, client.ObjectKeyFromObject(record))
	return err == nil && live != nil && live.ResourceVersion == record.ResourceVersion
}

// isLost reports whether the API server rejected a write because the record has changed. It answers a failed test of a
// JSON Patch with 422 without causes. Invalid values are 422 with causes.
func isLost(err error) bool {
	failedTest := apierrors.IsInvalid(err) && len(detailsOf(err).Causes) == 0
	return failedTest || apierrors.IsConflict(err) || apierrors.IsNotFound(err)
}

// isNamespaceGone reports whether a create failed because the namespace is being deleted, or does not exist.
func isNamespaceGone(err error) bool {
	return apierrors.HasStatusCause(err, corev1.NamespaceTerminatingCause) || apierror.MissingNamespace(err) != ""
}

func detailsOf(err error) metav1.StatusDetails {
	var status apierrors.APIStatus
	if errors.As(err, &status) && status.Status().Details != nil {
		return *status.Status().Details
	}
	return metav1.StatusDetails{}
}
