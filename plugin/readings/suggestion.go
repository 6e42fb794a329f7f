package readings

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"sigs.k8s.io/yaml"

	"github.com/mandate-io/idv/internal/client"
)

// A Suggestion is what the findings mean for the spec of an IdentityService and for a provider block. Empty fields
// are left at their defaults.
type Suggestion struct {
	BaseURL            string               `json:"baseURL"`
	CABundle           string               `json:"caBundle,omitempty"`
	TokenAuthorization string               `json:"tokenAuthorization,omitempty"`
	Credentials        string               `json:"credentials,omitempty"`
	RequestsPerSecond  int                  `json:"requestsPerSecond,omitempty"`
	CompleteMethod     string               `json:"completeMethod,omitempty"`
	RejectMethod       string               `json:"rejectMethod,omitempty"`
	States             map[Meaning][]string `json:"states,omitempty"`
	// FieldNames of a subscription, by the names that the provider sends.
	FieldNames map[string]string `json:"fieldNames,omitempty"`
}

func (s *Suggestion) addState(meaning Meaning, name string) {
	if s.States == nil {
		s.States = map[Meaning][]string{}
	}
	if !slices.Contains(s.States[meaning], name) {
		s.States[meaning] = append(s.States[meaning], name)
	}
}

func (s *Suggestion) authorization() client.TokenAuthorization {
	return client.TokenAuthorization(cmp.Or(s.TokenAuthorization, string(client.TokenAuthorizationAuto)))
}

// keys are those that the Secret needs.
func (s *Suggestion) keys() string {
	const user, clientID = "username, password", "client_id, client_secret"
	switch {
	case s.Credentials == "both", s.Credentials == "user" && s.TokenAuthorization == "Basic":
		return user + ", " + clientID
	case s.Credentials == "user":
		return user
	case s.Credentials == "client":
		return clientID
	}
	return user + ", or " + clientID + ", or all four"
}

// YAML is the manifest of an IdentityService.
func (s *Suggestion) YAML(name, namespace, secret string) (string, error) {
	spec := map[string]any{"baseURL": s.BaseURL, "credentialsSecretRef": map[string]any{"name": secret}}
	set := func(field, value string) {
		if value != "" {
			spec[field] = value
		}
	}
	set("caBundle", s.CABundle)
	set("tokenAuthorization", s.TokenAuthorization)
	if s.RequestsPerSecond > 0 {
		spec["requestsPerSecond"] = s.RequestsPerSecond
	}
	transitions := map[string]any{}
	if s.CompleteMethod != "" {
		transitions["completeMethod"] = s.CompleteMethod
	}
	if s.RejectMethod != "" {
		transitions["rejectMethod"] = s.RejectMethod
	}
	if len(transitions) > 0 {
		spec["transitions"] = transitions
	}
	if len(s.States) > 0 {
		spec["states"] = s.States
	}
	manifest, err := yaml.Marshal(map[string]any{
		"apiVersion": "idv.mandate.io/v1alpha1", "kind": "IdentityService",
		"metadata": map[string]any{"name": name, "namespace": namespace}, "spec": spec,
	})
	return "# The Secret " + secret + " needs the keys " + s.keys() + ".\n" + string(manifest), err
}

// HCL is the provider block, and what a subscription needs beyond its own arguments.
func (s *Suggestion) HCL() string {
	arguments := map[string]string{"base_url": quote(s.BaseURL)}
	if s.TokenAuthorization != "" {
		arguments["token_authorization"] = quote(s.TokenAuthorization)
	}
	if s.RequestsPerSecond > 0 {
		arguments["max_requests_per_second"] = strconv.Itoa(s.RequestsPerSecond)
	}
	var b strings.Builder
	b.WriteString("# IDV_USERNAME, IDV_PASSWORD, IDV_CLIENT_ID and IDV_CLIENT_SECRET have the credentials.\n")
	b.WriteString("provider \"idv\" {\n")
	writeArguments(&b, "  ", arguments)
	if s.CABundle != "" {
		b.WriteString("  ca_pem = <<-EOT\n" + strings.TrimRight(s.CABundle, "\n") + "\nEOT\n")
	}
	b.WriteString("}\n")
	if len(s.FieldNames) > 0 {
		names := map[string]string{}
		for ours, theirs := range s.FieldNames {
			names[ours] = quote(theirs)
		}
		b.WriteString("\n# In each idv_webhook_subscription:\n# field_names = {\n")
		writeArguments(&b, "#   ", names)
		b.WriteString("# }\n")
	}
	return b.String()
}

// writeArguments writes arguments as terraform fmt does.
func writeArguments(b *strings.Builder, indent string, arguments map[string]string) {
	names := slices.Sorted(maps.Keys(arguments))
	width := 0
	for _, name := range names {
		width = max(width, len(name))
	}
	for _, name := range names {
		fmt.Fprintf(b, "%s%-*s = %s\n", indent, width, name, arguments[name])
	}
}

// quote writes a string of HCL, in which ${ and %{ would be templates.
func quote(text string) string {
	return strings.NewReplacer("${", "$${", "%{", "%%{").Replace(strconv.Quote(text))
}
