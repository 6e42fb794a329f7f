package readings

import (
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/mandate-io/idv/api/v1alpha1"
)

// A Suggestion is what the findings mean for the spec of a service object and for a provider block.
type Suggestion struct {
	// Settings are those of Options, with what was found.
	Settings v1alpha1.ServiceSettings `json:"settings"`
	// Credentials are which pair the login needs, if that was found: user, client, both or either.
	Credentials string `json:"credentials,omitempty"`
	// FieldNames of a subscription, by the names that the provider sends.
	FieldNames map[string]string `json:"fieldNames,omitempty"`
}

func (s *Suggestion) addState(meaning Meaning, name string) {
	states := &s.Settings.States
	names := map[Meaning]*[]string{
		InReview: &states.InReview, Completed: &states.Completed, Rejected: &states.Rejected,
	}[meaning]
	if !slices.Contains(*names, name) {
		*names = append(*names, name)
	}
}

// Keys are those that the Secret needs.
func (s *Suggestion) Keys() string {
	const user, clientID = "username, password", "client_id, client_secret"
	basic := s.Settings.TokenAuthorization == v1alpha1.TokenAuthorizationBasic
	switch {
	case s.Credentials == "both", s.Credentials == "user" && basic:
		return user + ", " + clientID
	case s.Credentials == "user":
		return user
	case s.Credentials == "client":
		return clientID
	}
	return user + ", or " + clientID + ", or all four"
}

// HCL is the provider block, and what a subscription needs beyond its own arguments.
func (s *Suggestion) HCL() string {
	arguments := map[string]string{"base_url": quote(s.Settings.BaseURL)}
	if a := s.Settings.TokenAuthorization; a != "" && a != v1alpha1.TokenAuthorizationAuto {
		arguments["token_authorization"] = quote(string(a))
	}
	if limit := s.Settings.RequestsPerSecond; limit > 0 {
		arguments["max_requests_per_second"] = strconv.Itoa(int(limit))
	}
	var b strings.Builder
	b.WriteString("# IDV_USERNAME, IDV_PASSWORD, IDV_CLIENT_ID and IDV_CLIENT_SECRET have the credentials.\n")
	b.WriteString("provider \"idv\" {\n")
	writeArguments(&b, "  ", arguments)
	if s.Settings.CABundle != "" {
		b.WriteString("  ca_pem = <<-EOT\n" + strings.TrimRight(s.Settings.CABundle, "\n") + "\nEOT\n")
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
