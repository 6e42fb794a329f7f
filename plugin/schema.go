package plugin

import (
	"errors"
	"fmt"
	"strings"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/util/sets"
	"k8s.io/client-go/discovery"
	"k8s.io/client-go/openapi3"
	"k8s.io/kube-openapi/pkg/validation/spec"

	"github.com/mandate-io/idv/api/v1alpha1"
	"github.com/mandate-io/idv/operator/plan"
)

// notInstalled is the detail of a cluster without our CRDs.
const notInstalled = "not installed"

// crdPart compares the fields that the API server has with those that this plugin knows. The API server shows its
// schemas to everybody, but CRDs to few.
func (s *session) crdPart() (part, error) {
	p := part{Name: "CRDs", Result: partFails}
	config, err := s.config.ToRESTConfig()
	if err != nil {
		return p, err
	}
	api, err := discovery.NewDiscoveryClientForConfig(config)
	if err != nil {
		return p, err
	}
	if _, err := api.ServerResourcesForGroupVersion(v1alpha1.SchemeGroupVersion.String()); apierrors.IsNotFound(err) {
		p.Detail, p.Next = notInstalled, "install them, as docs/install.md shows"
		return p, nil
	}
	served, err := openapi3.NewRoot(api.OpenAPIV3()).GVSpec(v1alpha1.SchemeGroupVersion)
	if _, missing := errors.AsType[*openapi3.GroupVersionNotFoundError](err); missing {
		p.Result, p.Detail = partUnknown, "installed; the API server does not show their schemas yet"
		return p, nil
	}
	if err != nil {
		return p, err
	}
	ours, err := plan.Schemas()
	if err != nil {
		return p, err
	}
	compareFields(&p, ours, served.Components.Schemas)
	return p, nil
}

// compareFields says which fields one side does not have.
func compareFields(p *part, ours, served map[string]*spec.Schema) {
	known, found := sets.Set[string]{}, sets.Set[string]{}
	for kind, schema := range ours {
		addFields(schema, kind, known)
	}
	for name, schema := range served {
		if kind := name[strings.LastIndex(name, ".")+1:]; ours[kind] != nil {
			addFields(schema, kind, found)
		}
	}
	lacks, more := sets.List(known.Difference(found)), sets.List(found.Difference(known))
	switch {
	case len(lacks) > 0:
		p.Detail = "they lack " + examples(lacks)
		p.Next = "upgrade the CRDs and the operator, or use the plugin of their version"
	case len(more) > 0:
		p.Detail = "this plugin does not know " + examples(more)
		p.Next = "install the plugin of the operator's version"
	default:
		p.Result, p.Detail = partWorks, fmt.Sprintf("installed, with the %d fields that this plugin knows", len(known))
	}
}

// examples are the first of some names, and how many there are.
func examples(names []string) string {
	const most = 3
	if len(names) <= most {
		return strings.Join(names, ", ")
	}
	return fmt.Sprintf("%s and %d more fields", strings.Join(names[:most], ", "), len(names)-most)
}

// addFields adds the fields below spec and status of a schema.
func addFields(schema *spec.Schema, path string, fields sets.Set[string]) {
	for name, property := range schema.Properties {
		if isField(path, name) {
			fields.Insert(path + "." + name)
			addFields(&property, path+"."+name, fields)
		}
	}
	if items := schema.Items; items != nil && items.Schema != nil {
		addFields(items.Schema, path, fields)
	}
	if values := schema.AdditionalProperties; values != nil && values.Schema != nil {
		addFields(values.Schema, path, fields)
	}
}

// isField reports whether a field belongs to what CRDs define: below spec and status, but not beside them.
func isField(path, name string) bool {
	return strings.Contains(path, ".") || name == "spec" || name == "status"
}
