package plugin

import (
	"encoding/json"
	"errors"
	"fmt"
	"reflect"
	"strings"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/util/sets"
	"k8s.io/client-go/discovery"
	"k8s.io/client-go/openapi3"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/mandate-io/idv/api/v1alpha1"
)

// ourKinds are those whose CRDs an operator needs.
var ourKinds = map[string]client.Object{
	"ApplicationRecord": &v1alpha1.ApplicationRecord{}, "ClusterIdentityService": &v1alpha1.ClusterIdentityService{},
	"IdentityService": &v1alpha1.IdentityService{}, "Mandate": &v1alpha1.Mandate{},
	"MandateAction": &v1alpha1.MandateAction{},
}

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
	served, err := openapi3.NewRoot(api.OpenAPIV3()).GVSpecAsMap(v1alpha1.SchemeGroupVersion)
	if _, missing := errors.AsType[*openapi3.GroupVersionNotFoundError](err); missing {
		p.Result, p.Detail = partUnknown, "installed; the API server does not show their schemas yet"
		return p, nil
	}
	if err != nil {
		return p, err
	}
	compareFields(&p, served)
	return p, nil
}

// compareFields says which fields one side does not have.
func compareFields(p *part, served map[string]any) {
	components, _ := served["components"].(map[string]any)
	schemas, _ := components["schemas"].(map[string]any)
	known, found := sets.Set[string]{}, sets.Set[string]{}
	for kind, object := range ourKinds {
		typeFields(reflect.TypeOf(object), kind, known)
	}
	for name, schema := range schemas {
		if kind := name[strings.LastIndex(name, ".")+1:]; ourKinds[kind] != nil {
			schemaFields(schema, kind, found)
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

// schemaFields adds the fields below spec and status of an OpenAPI schema.
func schemaFields(schema any, path string, fields sets.Set[string]) {
	members, ok := schema.(map[string]any)
	if !ok {
		return
	}
	properties, _ := members["properties"].(map[string]any)
	for name, property := range properties {
		if isField(path, name) {
			fields.Insert(path + "." + name)
			schemaFields(property, path+"."+name, fields)
		}
	}
	for _, name := range []string{"items", "additionalProperties"} {
		schemaFields(members[name], path, fields)
	}
}

// typeFields adds the fields below spec and status of a type of Go, as JSON calls them.
func typeFields(t reflect.Type, path string, fields sets.Set[string]) {
	switch t.Kind() {
	case reflect.Pointer, reflect.Slice, reflect.Map:
		typeFields(t.Elem(), path, fields)
	case reflect.Struct:
		if reflect.PointerTo(t).Implements(reflect.TypeFor[json.Marshaler]()) {
			return // a time, which is a text in JSON
		}
		for field := range t.Fields() {
			name, _, _ := strings.Cut(field.Tag.Get("json"), ",")
			switch {
			case field.Anonymous:
				typeFields(field.Type, path, fields)
			case isField(path, name):
				fields.Insert(path + "." + name)
				typeFields(field.Type, path+"."+name, fields)
			}
		}
	}
}

// isField reports whether a field belongs to what CRDs define: below spec and status, but not beside them.
func isField(path, name string) bool {
	return strings.Contains(path, ".") || name == "spec" || name == "status"
}
