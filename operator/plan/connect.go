package plan

import (
	"cmp"
	"context"

	"k8s.io/apimachinery/pkg/api/meta"

	"github.com/mandate-io/idv/api/v1alpha1"
	idv "github.com/mandate-io/idv/internal/client"
	"github.com/mandate-io/idv/internal/reference"
	"github.com/mandate-io/idv/operator/connection"
)

// connect makes the connections of all services as their statuses show them, without a client. One that does not work
// now is taken for one that will: what waits for it is sent then.
func (p *planner) connect() {
	ended, cancel := context.WithCancel(context.Background())
	cancel() // nobody reads which connections have changed
	for _, object := range p.world.objects {
		service, ok := object.(connection.Service)
		if !ok {
			continue
		}
		key := connection.KeyOfService(service)
		made := p.connectionOf(service)
		p.urls[key] = made.URL
		p.connections.Put(ended, key, made)
	}
}

func (p *planner) connectionOf(service connection.Service) connection.Connection {
	status := service.ServiceStatus()
	made := connection.Of(service, connection.Account(status.Account))
	made.AccountState = connection.AccountConfirmed
	// The condition also tells of Mandates that belong to another account: that holds back nobody else.
	changed := meta.FindStatusCondition(status.Conditions, v1alpha1.ConditionAccountChanged)
	if !made.Vouched && changed != nil && changed.Reason == v1alpha1.ReasonAccountChanged {
		made.AccountState = connection.AccountSought
	}
	made.SameAccounts = connection.SameAccounts(made.Account, status.SameAccounts)
	made.References, made.Ready = p.referencesOf(service), true
	return made
}

// referencesOf has the mandate types that the status shows. If it does not show all of them, it has the ones that the
// manifests select, too.
func (p *planner) referencesOf(service connection.Service) *idv.References {
	known := &idv.References{}
	for _, t := range service.ServiceStatus().MandateTypes {
		known.MandateTypes = append(known.MandateTypes, idv.Reference{ID: t.ID, Name: t.Name, Code: t.Code})
	}
	if isReady(service) && !service.ServiceStatus().Truncated {
		return known
	}
	for _, item := range p.items {
		if item.mandate == nil || connection.KeyOf(item.mandate) != connection.KeyOfService(service) {
			continue
		}
		selected := idv.Reference{Code: item.mandate.Spec.MandateType.Code, Name: item.mandate.Spec.MandateType.Name}
		if selected != (idv.Reference{}) && len(idv.MatchReferences(known.MandateTypes, selected)) == 0 {
			selected.ID = v1alpha1.MaxID - int64(len(known.MandateTypes))
			known.MandateTypes = append(known.MandateTypes, selected)
		}
	}
	return known
}

// isReady reports whether the status says that the connection works.
func isReady(service connection.Service) bool {
	return meta.IsStatusConditionTrue(service.ServiceStatus().Conditions, v1alpha1.ConditionReady)
}

// serviceOf is the service of a Mandate; nil if there is none.
func (p *planner) serviceOf(m *v1alpha1.Mandate) connection.Service {
	key := connection.KeyOf(m)
	service, _ := p.world.objects[ObjectKey{string(key.Kind), key.Namespace, key.Name}].(connection.Service)
	return service
}

// changesService reports whether the change edits the service of a Mandate.
func (p *planner) changesService(m *v1alpha1.Mandate) bool {
	service := p.serviceOf(m)
	if service == nil {
		return false
	}
	item := p.byKey[KeyOf(service)]
	return item != nil && item.Change != Unchanged
}

// referenceOf is the reference of the application of a Mandate, as the operator chooses it.
func (p *planner) referenceOf(m *v1alpha1.Mandate) string {
	prefix := ""
	if service := p.serviceOf(m); service != nil {
		prefix = service.Settings().ReferencePrefix
	}
	if m.Status.ApplicationID != nil && m.Status.Reference != "" {
		return m.Status.Reference
	}
	return cmp.Or(m.Spec.Reference, reference.Mandate(prefix, m.Namespace, m.Name))
}
