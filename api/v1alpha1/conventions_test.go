package v1alpha1_test

import (
	"regexp"
	"strings"
	"testing"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"

	"github.com/mandate-io/idv/api/v1alpha1"
)

// TestConventions holds what every schema keeps to.
func TestConventions(t *testing.T) {
	for kind, crd := range crds(t) {
		walk(schemaOf(crd), kind, func(path string, s *apiextensionsv1.JSONSchemaProps) {
			if path == kind+".metadata" || strings.HasPrefix(path, kind+".spec.namespaceSelector.") {
				return // described by Kubernetes
			}
			if s.Description == "" && !strings.HasSuffix(path, "[]") {
				t.Errorf("%s has no description", path)
			}
			switch s.Type {
			case "string":
				ofKubernetes := path == kind+".apiVersion" || path == kind+".kind"
				if s.MaxLength == nil && len(s.Enum) == 0 && s.Format != "date-time" && !ofKubernetes {
					t.Errorf("%s is a string without maxLength", path)
				}
				if s.Format == "date-time" && s.Pattern == "" && !strings.Contains(path, ".conditions[]") {
					t.Errorf("%s is a time without a pattern, so it can be one that Go cannot read", path)
				}
			case "array":
				if s.MaxItems == nil || s.XListType == nil {
					t.Errorf("%s is a list without maxItems or x-kubernetes-list-type", path)
				}
			case "integer":
				ofKubernetes := strings.HasSuffix(path, ".conditions[].observedGeneration")
				if s.Format == "int64" && !ofKubernetes && (s.Maximum == nil || *s.Maximum != v1alpha1.MaxID) {
					t.Errorf("%s can be a number that other clients cannot hold", path)
				}
			case "boolean", "object":
			default:
				t.Errorf("%s has the type %q", path, s.Type)
			}
			if s.AdditionalProperties != nil || s.XPreserveUnknownFields != nil {
				t.Errorf("%s has no fixed set of fields", path)
			}
			if strings.HasSuffix(path, ".conditions") && (*s.XListType != "map" || s.XListMapKeys[0] != "type") {
				t.Errorf("%s is not a map by type", path)
			}
		})
	}
}

// TestMessages makes sure that no rule mentions immutability: GitOps tools take such an error as a reason to delete the
// object and to create it again, which for a Mandate would mean more e-mails.
func TestMessages(t *testing.T) {
	immutable := regexp.MustCompile(`(?i)immutab`)
	for kind, crd := range crds(t) {
		walk(schemaOf(crd), kind, func(path string, s *apiextensionsv1.JSONSchemaProps) {
			if immutable.MatchString(s.Description) {
				t.Errorf("%s: the description mentions immutability", path)
			}
			for _, rule := range s.XValidations {
				if rule.Message == "" || rule.MessageExpression != "" {
					t.Errorf("%s: the rule has no fixed message: %s", path, rule.Rule)
				}
				if immutable.MatchString(rule.Message) {
					t.Errorf("%s: the message mentions immutability: %s", path, rule.Message)
				}
			}
		})
	}
}

// TestPersonalFieldsAreNotRepeated makes sure that no field that may hold personal data has a kind of validation with
// which the API server repeats the value in its error.
func TestPersonalFieldsAreNotRepeated(t *testing.T) {
	individual := schemaOf(crds(t)["Mandate"]).Properties["spec"].Properties["individuals"].Items.Schema
	for name, s := range individual.Properties {
		if s.Pattern != "" || s.Format != "" || len(s.Enum) > 0 || len(s.XValidations) > 0 {
			t.Errorf("%s: only lengths and rules of the individual may hold it", name)
		}
	}
}

// TestStatusTakesAnyWord makes sure that nothing in the status of a Mandate limits the words that the service uses.
func TestStatusTakesAnyWord(t *testing.T) {
	status := schemaOf(crds(t)["Mandate"]).Properties["status"]
	walk(&status, "status", func(path string, s *apiextensionsv1.JSONSchemaProps) {
		ofKubernetes := strings.HasPrefix(path, "status.conditions")
		ofSpec := strings.HasSuffix(strings.ToLower(path), "reviews[].decision") // a word of spec.checkReviews
		if !ofKubernetes && !ofSpec && s.Format != "date-time" && (len(s.Enum) > 0 || s.Pattern != "") {
			t.Errorf("%s takes certain words only", path)
		}
	})
}
