package plugin

import (
	"bufio"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/validation"
	utilyaml "k8s.io/apimachinery/pkg/util/yaml"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/yaml"

	"github.com/mandate-io/idv/api/v1alpha1"
	idv "github.com/mandate-io/idv/internal/client"
	"github.com/mandate-io/idv/internal/reference"
	"github.com/mandate-io/idv/operator/ledger"
)

// moved are objects on their way to another cluster.
type moved struct {
	services []service
	records  []*v1alpha1.ApplicationRecord
	mandates []*v1alpha1.Mandate
}

func (f *moved) add(object client.Object) {
	switch object := object.(type) {
	case service:
		f.services = append(f.services, object)
	case *v1alpha1.ApplicationRecord:
		f.records = append(f.records, object)
	case *v1alpha1.Mandate:
		f.mandates = append(f.mandates, object)
	}
}

func kindOfMoved(object client.Object) string {
	switch object := object.(type) {
	case service:
		return kindOf(object)
	case *v1alpha1.ApplicationRecord:
		return "ApplicationRecord"
	default:
		return kindMandate
	}
}

func (f *moved) objects() (objects []client.Object) {
	for _, object := range f.services {
		objects = append(objects, object)
	}
	for _, object := range f.records {
		objects = append(objects, object)
	}
	for _, object := range f.mandates {
		objects = append(objects, object)
	}
	return objects
}

// lostRecord is the recordUID of a record whose own one is not known. The operator takes every record for restored that
// has another uid than its own there: it creates nothing, and carries out no action that the record does not have.
const lostRecord types.UID = "lost"

// lostAccount is the account of such a record where the service does not show its own: it is nobody's.
const lostAccount = "00000000000000000000000000000000"

// makePortable removes what belongs to one cluster. A service is suspended. A record without a recordUID has a create
// under way, which the other cluster must not send again.
func makePortable(object client.Object) {
	portable := metav1.ObjectMeta{
		Namespace: object.GetNamespace(), Name: object.GetName(), Labels: object.GetLabels(),
		Annotations: object.GetAnnotations(),
	}
	for _, annotation := range []string{
		corev1.LastAppliedConfigAnnotation, v1alpha1.RequestedByAnnotation, v1alpha1.RecordCompleteAnnotation,
	} {
		delete(portable.Annotations, annotation)
	}
	switch object := object.(type) {
	case *v1alpha1.Mandate:
		object.ObjectMeta = portable
	case *v1alpha1.ApplicationRecord:
		object.Spec.RecordUID = cmp.Or(object.Spec.RecordUID, object.UID, lostRecord)
		object.ObjectMeta = portable
	case *v1alpha1.IdentityService:
		object.ObjectMeta, object.Spec.Creation.Suspend = portable, true
	case *v1alpha1.ClusterIdentityService:
		object.ObjectMeta, object.Spec.Creation.Suspend = portable, true
	}
}

// readMoved reads all objects of YAML documents and lists. Their text can be personal data, so no error quotes it.
func readMoved(content io.Reader, namespace string) (*moved, error) {
	found, seen := &moved{}, map[string]bool{}
	documents := utilyaml.NewYAMLReader(bufio.NewReader(content))
	for number := 1; ; number++ {
		document, err := documents.Read()
		if errors.Is(err, io.EOF) {
			return found, nil
		}
		if err == nil {
			document, err = yaml.YAMLToJSONStrict(document)
		}
		if err != nil {
			return nil, fmt.Errorf("document %d is no YAML object", number)
		}
		if string(document) == "null" {
			continue
		}
		if err := found.addDocument(document, namespace, seen); err != nil {
			return nil, fmt.Errorf("document %d: %w", number, err)
		}
	}
}

// addDocument adds an object, or those of a list.
func (f *moved) addDocument(document []byte, namespace string, seen map[string]bool) error {
	var read struct {
		metav1.TypeMeta
		Items []json.RawMessage `json:"items"`
	}
	if json.Unmarshal(document, &read) == nil && strings.HasSuffix(read.Kind, "List") {
		for _, item := range read.Items {
			if err := f.addDocument(item, namespace, seen); err != nil {
				return err
			}
		}
		return nil
	}
	version := v1alpha1.SchemeGroupVersion
	made, err := scheme().New(version.WithKind(read.Kind))
	object, ok := made.(client.Object)
	if err != nil || !ok || read.APIVersion != version.String() || read.Kind == kindAction {
		return fmt.Errorf("it is no service, ApplicationRecord or Mandate of %s", version)
	}
	if yaml.UnmarshalStrict(document, object) != nil {
		return fmt.Errorf("the %s has fields that this version of the plugin does not know, or values that it cannot read: "+
			"use the version that has written it", read.Kind)
	}
	if object.GetNamespace() == "" && read.Kind != string(v1alpha1.ServiceKindClusterIdentityService) {
		object.SetNamespace(namespace)
	}
	key := read.Kind + " " + object.GetNamespace() + "/" + object.GetName()
	switch {
	case len(validation.IsDNS1123Subdomain(object.GetName())) > 0:
		return fmt.Errorf("the %s has no name, or none that Kubernetes allows", read.Kind)
	case object.GetNamespace() != "" && len(validation.IsDNS1123Label(object.GetNamespace())) > 0:
		return fmt.Errorf("the %s %s is in no namespace that Kubernetes allows", read.Kind, object.GetName())
	case seen[key]:
		return fmt.Errorf("the %s is there twice: keep the newer one", key)
	}
	seen[key] = true
	makePortable(object)
	f.add(object)
	return nil
}

// serviceOf names the service of a Mandate, which may lack the defaults of the API server.
func serviceOf(m *v1alpha1.Mandate) serviceKey {
	name := cmp.Or(m.Spec.ServiceRef.Name, "default")
	if m.Spec.ServiceRef.Kind == v1alpha1.ServiceKindClusterIdentityService {
		return serviceKey{m.Spec.ServiceRef.Kind, "", name}
	}
	return serviceKey{v1alpha1.ServiceKindIdentityService, m.Namespace, name}
}

// recordFromStatus is in place of a record that is not there. It has the application that the status shows. If that
// shows none, one may exist all the same, and a person has to say that it does not.
func recordFromStatus(m *v1alpha1.Mandate, s service) *v1alpha1.ApplicationRecord {
	settings, key := s.Settings(), serviceOf(m)
	record := &v1alpha1.ApplicationRecord{ObjectMeta: metav1.ObjectMeta{Namespace: m.Namespace, Name: m.Name}}
	record.Spec = v1alpha1.ApplicationRecordSpec{
		RecordUID: lostRecord, Salt: ledger.NewSalt(), ServiceURL: idv.NormalBaseURL(settings.BaseURL),
		Account: cmp.Or(s.ServiceStatus().Account, lostAccount),
		Reference: cmp.Or(m.Status.Reference, m.Spec.Reference,
			reference.Mandate(settings.ReferencePrefix, m.Namespace, m.Name)),
		ServiceRef:    v1alpha1.IdentityServiceReference{Kind: key.kind, Name: key.name},
		MandateRef:    v1alpha1.RecordedMandate{UID: lostRecord},
		ApplicationID: m.Status.ApplicationID, CreatedTime: m.Status.CreatedTime,
	}
	for _, individual := range m.Status.Individuals {
		if individual.ID > 0 && m.Status.ApplicationID != nil {
			record.Spec.Individuals = append(record.Spec.Individuals,
				v1alpha1.RecordedIndividual{Name: individual.Name, ID: individual.ID})
		}
	}
	return record
}

// mergeRecord is the record of this cluster with what the one of another cluster says; nil if it says nothing more. A
// record that the operator has begun here becomes one that was restored. problem says what a person has to do first.
func mergeRecord(current, from *v1alpha1.ApplicationRecord) (merged *v1alpha1.ApplicationRecord, problem string) {
	here, there := &current.Spec, &from.Spec
	isOwn := here.RecordUID == "" || here.RecordUID == current.UID
	create, mayExist := ledger.CreateOf(current), ledger.MayExist(current)
	merged = current.DeepCopy()
	switch {
	case here.Salt == there.Salt:
		longer := len(there.Calls)+len(there.Earlier) > len(here.Calls)+len(here.Earlier)
		if !longer && (here.ApplicationID != nil || there.ApplicationID == nil) {
			return nil, ""
		}
		merged.Spec = from.Spec // the API server refuses it, unless it is the same log, and longer
		return merged, ""
	case here.ApplicationID != nil && there.ApplicationID != nil && *here.ApplicationID != *there.ApplicationID:
		return nil, fmt.Sprintf("it has the application %d here, and %d in the file: find out whose each one is",
			*here.ApplicationID, *there.ApplicationID)
	case here.ApplicationID != nil, !isOwn && there.ApplicationID == nil:
		return nil, ""
	case create != nil && create.Sends > 0 && create.Result == "":
		return nil, "a create is under way here: repeat the command in five minutes"
	case mayExist && (here.Reference != there.Reference || here.ServiceURL != there.ServiceURL):
		return nil, "it may have another application here: kubectl mandate status -n " + current.Namespace + " " +
			current.Name
	}
	merged.Spec.RecordUID, merged.Spec.ApplicationID = there.RecordUID, there.ApplicationID
	merged.Spec.CreatedTime, merged.Spec.Individuals = there.CreatedTime, there.Individuals
	if !mayExist {
		merged.Spec.ServiceURL, merged.Spec.ServiceRef = there.ServiceURL, there.ServiceRef
		merged.Spec.Reference, merged.Spec.Account = there.Reference, there.Account
	}
	return merged, ""
}
