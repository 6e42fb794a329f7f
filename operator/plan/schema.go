package plan

import (
	"context"
	"fmt"
	"io/fs"
	"maps"
	"path"
	"strings"
	"sync"

	"k8s.io/apiextensions-apiserver/pkg/apis/apiextensions"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	structural "k8s.io/apiextensions-apiserver/pkg/apiserver/schema"
	"k8s.io/apiextensions-apiserver/pkg/apiserver/schema/cel"
	"k8s.io/apiextensions-apiserver/pkg/apiserver/schema/pruning"
	"k8s.io/apiextensions-apiserver/pkg/apiserver/validation"
	apivalidation "k8s.io/apimachinery/pkg/api/validation"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/util/validation/field"
	celconfig "k8s.io/apiserver/pkg/apis/cel"
	"k8s.io/kube-openapi/pkg/schemaconv"
	"k8s.io/kube-openapi/pkg/validation/spec"
	smdschema "sigs.k8s.io/structured-merge-diff/v6/schema"
	"sigs.k8s.io/structured-merge-diff/v6/typed"
	"sigs.k8s.io/yaml"

	"github.com/mandate-io/idv/config/crd"
)

// kindSchema is what the API server knows of a kind: its defaults, fields and rules.
type kindSchema struct {
	clusterScoped bool
	structural    *structural.Structural
	fields        validation.SchemaValidator
	rules         *cel.Validator
	spec          typed.ParseableType
}

// kinds are those of the CRDs of this version. The cluster may have others: who may read Mandates may not read CRDs.
var kinds = sync.OnceValues(func() (map[string]*kindSchema, error) {
	files, err := fs.ReadDir(crd.Bases, crd.Dir)
	if err != nil {
		return nil, err
	}
	all := map[string]*kindSchema{}
	for _, file := range files {
		content, err := crd.Bases.ReadFile(path.Join(crd.Dir, file.Name()))
		if err != nil {
			return nil, err
		}
		definition := &apiextensionsv1.CustomResourceDefinition{}
		if err := yaml.Unmarshal(content, definition); err != nil {
			return nil, fmt.Errorf("reading the CRD %s: %w", file.Name(), err)
		}
		if all[definition.Spec.Names.Kind], err = newKindSchema(&definition.Spec); err != nil {
			return nil, fmt.Errorf("reading the CRD %s: %w", file.Name(), err)
		}
	}
	return all, nil
})

// Schemas are those of the CRDs of this version, by kind.
func Schemas() (map[string]*spec.Schema, error) {
	known, err := kinds()
	schemas := map[string]*spec.Schema{}
	for kind, schema := range known {
		schemas[kind] = schema.structural.ToKubeOpenAPI()
	}
	return schemas, err
}

func newKindSchema(definition *apiextensionsv1.CustomResourceDefinitionSpec) (*kindSchema, error) {
	props := &apiextensions.JSONSchemaProps{}
	err := apiextensionsv1.Convert_v1_JSONSchemaProps_To_apiextensions_JSONSchemaProps(
		definition.Versions[0].Schema.OpenAPIV3Schema, props, nil)
	if err != nil {
		return nil, err
	}
	shape, err := structural.NewStructural(props)
	if err != nil {
		return nil, err
	}
	shapeOfSpec := shape.Properties["spec"]
	types, err := schemaconv.ToSchemaFromOpenAPI(map[string]*spec.Schema{"spec": shapeOfSpec.ToKubeOpenAPI()}, false)
	if err != nil {
		return nil, err
	}
	validator, _, err := validation.NewSchemaValidator(props)
	return &kindSchema{
		clusterScoped: definition.Scope == apiextensionsv1.ClusterScoped, structural: shape, fields: validator,
		rules: cel.NewValidator(shape, true, celconfig.PerCallLimit),
		spec:  (&typed.Parser{Schema: smdschema.Schema{Types: types.Types}}).Type("spec"),
	}, err
}

// prune drops fields that the kind does not have, and gives their paths.
func (k *kindSchema) prune(object *unstructured.Unstructured) (unknown []string) {
	return pruning.PruneWithOptions(object.Object, k.structural, true, structural.UnknownFieldPathOptions{
		TrackUnknownFieldPaths: true,
	})
}

// refusal is why the API server would refuse an object; "" if it takes it. before is nil for a new one. The text has no
// values: they can be personal data. The status is the cluster's, and only rules look at it.
func (k *kindSchema) refusal(ctx context.Context, object, before *unstructured.Unstructured) string {
	checked := withID(object)
	problems := validation.ValidateCustomResource(nil, checked, k.fields)
	if len(problems) == 0 { // rules are about objects whose fields are as they should be
		var old any
		if before != nil {
			old = withID(before)
		}
		problems, _ = k.rules.Validate(ctx, nil, k.structural, checked, old, celconfig.RuntimeCELCostBudget)
	}
	if before == nil {
		problems = append(problems, apivalidation.ValidateObjectMetaAccessor(object, !k.clusterScoped,
			apivalidation.NameIsDNSSubdomain, field.NewPath("metadata"))...)
	}
	texts := make([]string, len(problems))
	for i, problem := range problems {
		texts[i] = withoutValue(problem)
	}
	return strings.Join(texts, "; ")
}

// withID is an object with that part of its status which rules of the spec are about.
func withID(object *unstructured.Unstructured) map[string]any {
	reduced, status := maps.Clone(object.Object), map[string]any{} // which each object has
	if id, found, _ := unstructured.NestedFieldNoCopy(object.Object, "status", "applicationID"); found {
		status["applicationID"] = id
	}
	reduced["status"] = status
	return reduced
}

// withoutValue is the text of a problem without the value that it is about.
func withoutValue(problem *field.Error) string {
	detail := problem.Detail
	switch problem.Type {
	case field.ErrorTypeInvalid: // a rule has a message of its own; what a schema says may quote the value
		if i := strings.LastIndex(detail, ": "); i >= 0 && strings.Contains(detail, " in body ") {
			detail = detail[:i]
		}
	case field.ErrorTypeNotSupported, field.ErrorTypeRequired, field.ErrorTypeTooLong, field.ErrorTypeTooMany:
	default:
		detail = ""
	}
	text := problem.Field + ": " + problem.Type.String()
	if detail != "" {
		text = problem.Field + ": " + detail
	}
	return strings.TrimSpace(text)
}
