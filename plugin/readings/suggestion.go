package readings

import (
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"text/tabwriter"

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
		InReview: &states.InReview, Completed: &states.Completed, Rejected: &states.Rejected, Closed: &states.Closed,
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
	var b strings.Builder
	b.WriteString("# IDV_USERNAME, IDV_PASSWORD, IDV_CLIENT_ID and IDV_CLIENT_SECRET have the credentials.\n")
	b.WriteString("provider \"idv\" {\n")
	settings := tabwriter.NewWriter(&b, 0, 0, 1, ' ', 0) // aligned as by terraform fmt
	fmt.Fprintf(settings, "  base_url\t= %s\n", quote(s.Settings.BaseURL))
	if grant := s.Settings.TokenRequest.GrantType; grant != "" && grant != v1alpha1.GrantTypePassword {
		fmt.Fprintf(settings, "  grant_type\t= %s\n", quote(string(grant)))
	}
	if limit := s.Settings.RequestsPerSecond; limit > 0 {
		fmt.Fprintf(settings, "  max_requests_per_second\t= %d\n", limit)
	}
	if a := s.Settings.TokenAuthorization; a != "" && a != v1alpha1.TokenAuthorizationAuto {
		fmt.Fprintf(settings, "  token_authorization\t= %s\n", quote(string(a)))
	}
	_ = settings.Flush() // a Builder takes everything
	if s.Settings.CABundle != "" {
		b.WriteString("  ca_pem = <<-EOT\n" + strings.TrimRight(s.Settings.CABundle, "\n") + "\nEOT\n")
	}
	if len(s.FieldNames) > 0 {
		b.WriteString("\n  webhook_field_names = {\n")
		names := tabwriter.NewWriter(&b, 0, 0, 1, ' ', 0)
		for _, ours := range slices.Sorted(maps.Keys(s.FieldNames)) {
			fmt.Fprintf(names, "    %s\t= %s\n", ours, quote(s.FieldNames[ours]))
		}
		_ = names.Flush()
		b.WriteString("  }\n")
	}
	b.WriteString("}\n")
	return b.String()
}

// quote writes a string of HCL, in which ${ and %{ would be templates.
func quote(text string) string {
	return strings.NewReplacer("${", "$${", "%{", "%%{").Replace(strconv.Quote(text))
}
