// Package ledger reads and writes ApplicationRecords: the durable memory of what was sent to the service. Every write is
// conditional, so that of two operators, two Mandates or two stale views exactly one wins.
package ledger

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"net/url"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/uuid"
	"k8s.io/apimachinery/pkg/util/validation"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/mandate-io/idv/api/v1alpha1"
)

// MandateLabel finds the records of a Mandate under any reference, and of those that had its name before: its value is the
// name, or a hash of one that is too long for a label.
const MandateLabel = "idv.mandate.io/mandate"

var (
	// ErrLost means that somebody else changed or deleted the record since it was read. Nothing was written.
	ErrLost = errors.New("another writer changed the ApplicationRecord")
	// ErrNoNamespace means that the namespace is being deleted, so that nothing can be recorded in it any more.
	ErrNoNamespace = errors.New("the namespace is being deleted")
	// ErrIncomplete means that the API server dropped a field: the CRD is older than this operator.
	ErrIncomplete = errors.New("the ApplicationRecord CRD is older than this operator: apply the CRDs of this version")
)

// Ledger reads and writes records, past any cache. Writer must use strict field validation.
type Ledger struct {
	Reader client.Reader
	Writer client.Writer
}

// NewAttempt begins an attempt. It counts as sent from the start: it is written before the request goes out, and only
// proof of the contrary may take that back.
func NewAttempt(inputs string, now time.Time) v1alpha1.Attempt {
	started := metav1.MicroTime{Time: now.Truncate(time.Microsecond)} // as the API server keeps it
	return v1alpha1.Attempt{Nonce: string(uuid.NewUUID()), FirstStartedTime: started, StartedTime: started, Sent: true, Ordinal: 1, Inputs: inputs}
}

// Name of the record of a reference at a service.
func Name(serviceURL, reference string) string {
	sum := sha256.Sum256([]byte(serviceURL + "\n" + reference))
	return "apr-" + hex.EncodeToString(sum[:20])
}

// NormalURL gives the one spelling of a base URL under which records are kept.
func NormalURL(baseURL string) string {
	u, err := url.Parse(baseURL)
	if err != nil {
		return baseURL
	}
	u.Scheme, u.Host = strings.ToLower(u.Scheme), strings.ToLower(u.Host)
	if port := u.Port(); port == "443" && u.Scheme == "https" || port == "80" && u.Scheme == "http" {
		u.Host = strings.TrimSuffix(u.Host, ":"+port)
	}
	u.Path = strings.TrimRight(u.Path, "/")
	return u.String()
}

// Get reads the record of a reference; nil if there is none.
func (l *Ledger) Get(ctx context.Context, namespace, serviceURL, reference string) (*v1alpha1.ApplicationRecord, error) {
	record := &v1alpha1.ApplicationRecord{}
	err := l.Reader.Get(ctx, types.NamespacedName{Namespace: namespace, Name: Name(serviceURL, reference)}, record)
	if apierrors.IsNotFound(err) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	if record.Spec.Reference != reference || record.Spec.ServiceURL != serviceURL {
		return nil, errors.New("an ApplicationRecord does not match its name: somebody edited it")
	}
	return record, nil
}

// Labels of the records of a Mandate.
func Labels(mandate string) map[string]string {
	if len(mandate) > validation.LabelValueMaxLength {
		sum := sha256.Sum256([]byte(mandate))
		mandate = hex.EncodeToString(sum[:20])
	}
	return map[string]string{MandateLabel: mandate}
}

// OfMandate lists the records that Mandates of a name have under any reference.
func (l *Ledger) OfMandate(ctx context.Context, namespace, name string) ([]v1alpha1.ApplicationRecord, error) {
	var records v1alpha1.ApplicationRecordList
	err := l.Reader.List(ctx, &records, client.InNamespace(namespace), client.MatchingLabels(Labels(name)))
	return records.Items, err
}

// Claim creates the record: whoever does it may send the attempt. ErrLost if the record exists, ErrNoNamespace if the
// namespace is being deleted.
func (l *Ledger) Claim(ctx context.Context, namespace string, spec v1alpha1.ApplicationRecordSpec) (*v1alpha1.ApplicationRecord, error) {
	record := &v1alpha1.ApplicationRecord{
		ObjectMeta: metav1.ObjectMeta{
			Namespace: namespace, Name: Name(spec.ServiceURL, spec.Reference),
			Labels: Labels(spec.MandateRef.Name),
		},
		Spec: *spec.DeepCopy(),
	}
	err := l.Writer.Create(ctx, record)
	switch {
	case apierrors.IsAlreadyExists(err):
		return nil, ErrLost
	case lacksNamespace(err):
		return nil, ErrNoNamespace
	case err != nil:
		return nil, err
	}
	if spec.Attempt == nil {
		return record, keeps(record, spec.ApplicationID)
	}
	if err := complete(record, *spec.Attempt); err != nil {
		// Nothing was sent yet. Left behind, the record would look as if something may have been.
		return nil, errors.Join(err, l.Release(ctx, record))
	}
	return record, nil
}

// Retake begins another attempt on a record whose last one has ended, or was given up by its process. The record must
// be as it was read: ErrLost otherwise. All labels are replaced: a patch cannot add to a map that somebody has emptied.
func (l *Ledger) Retake(ctx context.Context, record *v1alpha1.ApplicationRecord, uid types.UID, attempt v1alpha1.Attempt) (*v1alpha1.ApplicationRecord, error) {
	retaken, err := l.patch(ctx, record,
		test("/metadata/resourceVersion", record.ResourceVersion),
		operation{"add", "/spec/attempt", attempt}, operation{"add", "/spec/mandateRef/uid", uid},
		operation{"add", "/metadata/labels", Labels(record.Spec.MandateRef.Name)})
	if err != nil {
		return nil, err
	}
	return retaken, complete(retaken, attempt)
}

// Release deletes the record of another Mandate that provably left nothing at the service, so that the reference is
// free again. ErrLost if anything has happened to it since it was read.
func (l *Ledger) Release(ctx context.Context, record *v1alpha1.ApplicationRecord) error {
	err := l.Writer.Delete(ctx, record, client.Preconditions{UID: &record.UID, ResourceVersion: &record.ResourceVersion})
	if isLost(err) {
		return ErrLost
	}
	return err
}

// Conclude writes down how the attempt of a record ended that created nothing, or may have. ErrLost if another attempt
// has begun since.
func (l *Ledger) Conclude(ctx context.Context, record *v1alpha1.ApplicationRecord, attempt v1alpha1.Attempt) (*v1alpha1.ApplicationRecord, error) {
	return l.patch(ctx, record, test("/spec/attempt/nonce", attempt.Nonce), test("/metadata/uid", string(record.UID)),
		operation{"add", "/spec/attempt", attempt})
}

// Deposit stores the id of the application that the attempt created. ErrLost if another attempt has begun since.
func (l *Ledger) Deposit(ctx context.Context, record *v1alpha1.ApplicationRecord, id int64, created metav1.Time) (*v1alpha1.ApplicationRecord, error) {
	// Not the resourceVersion: whoever else has touched the record, the id belongs to the attempt that got it.
	deposited, err := l.patch(ctx, record, test("/spec/attempt/nonce", record.Spec.Attempt.Nonce), test("/metadata/uid", string(record.UID)),
		operation{"add", "/spec/applicationID", id}, operation{"add", "/spec/createdTime", created})
	if err != nil {
		return nil, err
	}
	return deposited, keeps(deposited, &id)
}

// Adopt stores that an application which exists already is a Mandate's. record is what the ledger has under the reference,
// nil if nothing; it is ErrLost if that has changed. An attempt that may be under way loses its record: its nonce is not
// the recorded one any more.
func (l *Ledger) Adopt(ctx context.Context, namespace string, record *v1alpha1.ApplicationRecord, spec v1alpha1.ApplicationRecordSpec) (*v1alpha1.ApplicationRecord, error) {
	if record == nil {
		return l.Claim(ctx, namespace, spec)
	}
	operations := []operation{
		test("/metadata/resourceVersion", record.ResourceVersion), {"add", "/spec/applicationID", spec.ApplicationID},
		{"add", "/spec/mandateRef/uid", spec.MandateRef.UID}, {"add", "/metadata/labels", Labels(record.Spec.MandateRef.Name)},
	}
	if record.Spec.Attempt != nil {
		operations = append(operations, operation{"add", "/spec/attempt/nonce", uuid.NewUUID()})
	}
	adopted, err := l.patch(ctx, record, operations...)
	if err != nil {
		return nil, err
	}
	return adopted, keeps(adopted, spec.ApplicationID)
}

// keeps checks that the API server kept an id.
func keeps(record *v1alpha1.ApplicationRecord, id *int64) error {
	if id != nil && (record.Spec.ApplicationID == nil || *record.Spec.ApplicationID != *id) {
		return ErrIncomplete
	}
	return nil
}

type operation struct {
	Op    string `json:"op"`
	Path  string `json:"path"`
	Value any    `json:"value"`
}

func test(path, value string) operation { return operation{"test", path, value} }

func (l *Ledger) patch(ctx context.Context, record *v1alpha1.ApplicationRecord, operations ...operation) (*v1alpha1.ApplicationRecord, error) {
	data, err := json.Marshal(operations)
	if err != nil {
		return nil, fmt.Errorf("encoding a patch of an ApplicationRecord: %w", err)
	}
	patched := record.DeepCopy()
	err = l.Writer.Patch(ctx, patched, client.RawPatch(types.JSONPatchType, data))
	if isLost(err) {
		return nil, ErrLost
	}
	return patched, err
}

// isLost tells the ways in which the API server says that a record is not what it was. A test of a JSON Patch that does
// not hold is answered with 422 and a text that does not say so; values that are not valid are 422 too, but with causes.
func isLost(err error) bool {
	failedTest := apierrors.IsInvalid(err) && len(detailsOf(err).Causes) == 0
	return failedTest || apierrors.IsConflict(err) || apierrors.IsNotFound(err)
}

// lacksNamespace tells that a create failed because the namespace is being deleted, or is gone.
func lacksNamespace(err error) bool {
	return apierrors.HasStatusCause(err, corev1.NamespaceTerminatingCause) || apierrors.IsNotFound(err) && detailsOf(err).Kind == "namespaces"
}

func detailsOf(err error) metav1.StatusDetails {
	var status apierrors.APIStatus
	if errors.As(err, &status) && status.Status().Details != nil {
		return *status.Status().Details
	}
	return metav1.StatusDetails{}
}

// complete checks that the API server kept what was written. An older CRD drops fields that it does not know, and with
// them the memory of what was sent.
func complete(record *v1alpha1.ApplicationRecord, attempt v1alpha1.Attempt) error {
	got := record.Spec.Attempt
	if got == nil || got.Nonce != attempt.Nonce || got.Sent != attempt.Sent || got.Ordinal != attempt.Ordinal ||
		!got.StartedTime.Equal(&attempt.StartedTime) || !got.FirstStartedTime.Equal(&attempt.FirstStartedTime) || got.Inputs != attempt.Inputs {
		return ErrIncomplete
	}
	return nil
}
