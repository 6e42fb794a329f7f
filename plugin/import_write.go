package plugin

import (
	"context"
	"fmt"
	"strings"
	"time"

	"k8s.io/apimachinery/pkg/api/equality"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/mandate-io/idv/api/v1alpha1"
	"github.com/mandate-io/idv/operator/plan"
)

// What became of an object of the file.
const (
	resultCreated = "created"
	resultExists  = "was there"
	resultChanged = "changed"
	resultPerson  = "needs a person"
	resultFailed  = "not written"
)

// importResult is what became of one object, and what to do next, if a person has to.
type importResult struct {
	object       client.Object
	result, next string
}

// An importer writes objects in an order that can be interrupted at any time: a Mandate comes after its record, by
// which the operator finds the application, or creates none.
type importer struct {
	*cluster

	strict   client.Client // refuses a field that the CRDs do not have
	services map[plan.ObjectKey]service
	records  map[client.ObjectKey]*v1alpha1.ApplicationRecord // as they are here
	results  []importResult
}

func (i *importer) add(object client.Object, result, next string) {
	i.results = append(i.results, importResult{object, result, next})
}

// tried ends the import with an error, unless the API server refuses this one object.
func (i *importer) tried(object client.Object, result string, err error) error {
	switch {
	case err == nil:
		i.add(object, result, "")
	case isRefused(err):
		i.add(object, resultFailed, refusedFields(err).Error())
	default:
		return explainWrite(err)
	}
	return nil
}

func (i *importer) write(ctx context.Context, found []client.Object) error {
	known := map[client.ObjectKey]bool{}
	for _, s := range of[service](found) {
		if err := i.writeService(ctx, s); err != nil {
			return err
		}
	}
	for _, record := range of[*v1alpha1.ApplicationRecord](found) {
		known[client.ObjectKeyFromObject(record)] = true
		if err := i.writeRecord(ctx, record); err != nil {
			return err
		}
	}
	for _, m := range of[*v1alpha1.Mandate](found) {
		if err := i.writeLostRecord(ctx, m, known[client.ObjectKeyFromObject(m)]); err != nil {
			return err
		}
		if err := i.writeMandate(ctx, m); err != nil {
			return err
		}
	}
	return nil
}

func (i *importer) writeService(ctx context.Context, s service) error {
	i.services[plan.KeyOf(s)] = s
	status := s.ServiceStatus().DeepCopy()
	err := i.strict.Create(ctx, s)
	*s.ServiceStatus() = *status // for records that are made from it
	switch {
	case apierrors.IsAlreadyExists(err):
		i.add(s, resultExists, "")
		return nil
	case err != nil:
		return i.tried(s, "", err)
	}
	resume := "when nothing else uses the account: kubectl mandate resume "
	if s.GetNamespace() != "" {
		resume += "-n " + s.GetNamespace() + " "
	}
	i.add(s, resultCreated, resume+strings.ToLower(kindOf(s))+"/"+s.GetName())
	return nil
}

// writeRecord writes a record, or brings what is here up to it.
func (i *importer) writeRecord(ctx context.Context, record *v1alpha1.ApplicationRecord) error {
	key, from := client.ObjectKeyFromObject(record), record.DeepCopy()
	err := i.strict.Create(ctx, record)
	if !apierrors.IsAlreadyExists(err) {
		if err == nil {
			i.records[key] = record
		}
		return i.tried(record, resultCreated, err)
	}
	current := &v1alpha1.ApplicationRecord{}
	if err := i.Get(ctx, key, current); err != nil {
		return i.tried(record, "", err)
	}
	merged, problem := mergeRecord(current, from)
	switch {
	case problem != "":
		i.add(record, resultPerson, problem)
		return nil
	case merged == nil:
		i.records[key] = current
		i.add(record, resultExists, "")
		return nil
	}
	err = i.Patch(ctx, merged, client.MergeFromWithOptions(current, client.MergeFromWithOptimisticLock{}))
	if err == nil {
		i.records[key] = merged
	}
	return i.tried(record, resultChanged, err)
}

// writeLostRecord makes the record of a Mandate that the file has none of.
func (i *importer) writeLostRecord(ctx context.Context, m *v1alpha1.Mandate, known bool) error {
	if known {
		return nil
	}
	key := serviceOf(m)
	if i.services[key] == nil {
		found, err := i.read(ctx, key)
		switch {
		case isRefused(err):
			i.add(m, resultFailed, fmt.Sprintf("its record is lost, and so is the %s %s: create it, and repeat the command",
				key.Kind, key.Name))
			return nil
		case err != nil:
			return err
		}
		i.services[key] = found
	}
	return i.writeRecord(ctx, recordFromStatus(m, i.services[key]))
}

// writeMandate writes a Mandate whose record is here.
func (i *importer) writeMandate(ctx context.Context, m *v1alpha1.Mandate) error {
	record := i.records[client.ObjectKeyFromObject(m)]
	if record == nil {
		i.add(m, resultFailed, "its ApplicationRecord is not as the file has it: see above")
		return nil
	}
	current, result := m.DeepCopy(), resultCreated
	err := i.strict.Create(ctx, current)
	if apierrors.IsAlreadyExists(err) {
		if err := i.Get(ctx, client.ObjectKeyFromObject(m), current); err != nil {
			return i.tried(m, "", err)
		}
		result, err = i.bindExisting(ctx, current, m, record)
	}
	if err == nil && isSameApplication(current, m) {
		err = i.writeOutcome(ctx, current, m, record)
	}
	status := fmt.Sprintf("kubectl mandate status -n %s %s", m.Namespace, m.Name)
	if err == nil && (record.Spec.ApplicationID == nil || result == resultPerson) {
		i.add(m, resultPerson, status)
		return nil
	}
	return i.tried(m, result, err)
}

// bindExisting has the operator bind a Mandate that was here before its record.
func (i *importer) bindExisting(
	ctx context.Context, current, m *v1alpha1.Mandate, record *v1alpha1.ApplicationRecord,
) (string, error) {
	switch {
	case current.Status.ApplicationID != nil || record.Spec.ApplicationID == nil:
		return resultExists, nil
	case !isSameApplication(current, m): // it may be about other people
		return resultPerson, nil
	}
	patch := client.MergeFrom(current.DeepCopy())
	requested := time.Now().UTC().Format(time.RFC3339Nano)
	metav1.SetMetaDataAnnotation(&current.ObjectMeta, v1alpha1.ReconcileRequestAnnotation, requested)
	return resultChanged, i.Patch(ctx, current, patch)
}

// isSameApplication reports whether two Mandates ask for the same application.
func isSameApplication(a, b *v1alpha1.Mandate) bool {
	return serviceOf(a) == serviceOf(b) && a.Spec.Name == b.Spec.Name && a.Spec.Reference == b.Spec.Reference &&
		equality.Semantic.DeepEqual(a.Spec.MandateType, b.Spec.MandateType) &&
		a.Spec.SuppressEmailNotification == b.Spec.SuppressEmailNotification &&
		equality.Semantic.DeepEqual(a.Spec.Individuals, b.Spec.Individuals)
}

// writeOutcome writes the status of an application that may be gone, so that nobody can read it again. The operator
// makes every other status anew.
func (i *importer) writeOutcome(
	ctx context.Context, current, m *v1alpha1.Mandate, record *v1alpha1.ApplicationRecord,
) error {
	id := m.Status.ApplicationID
	replaces := isDecided(m) && !isDecided(current) || current.Status.ApplicationID == nil
	if m.Status.Outcome == "" || !replaces || id == nil || *id != ptr.Deref(record.Spec.ApplicationID, 0) {
		return nil
	}
	changed := current.DeepCopy()
	m.Status.DeepCopyInto(&changed.Status)
	changed.Status.ObservedGeneration = current.Generation
	for c := range changed.Status.Conditions {
		changed.Status.Conditions[c].ObservedGeneration = current.Generation
	}
	return i.Status().Patch(ctx, changed, client.MergeFrom(current))
}

func isDecided(m *v1alpha1.Mandate) bool {
	return m.Status.Outcome == v1alpha1.OutcomeCompleted || m.Status.Outcome == v1alpha1.OutcomeRejected
}
