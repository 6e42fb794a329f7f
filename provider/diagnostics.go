package provider

import (
	"errors"
	"maps"
	"regexp"
	"slices"
	"strings"
	"unicode"

	"github.com/hashicorp/terraform-plugin-framework/diag"
	"github.com/hashicorp/terraform-plugin-framework/path"

	"github.com/mandate-io/idv/internal/client"
)

// fieldPaths says at which attribute a complaint of the service about a field belongs, by the field's name in the
// request. Only fields whose messages may be shown are in it.
type fieldPaths map[string]path.Path

// addError reports a failed call.
func addError(diags *diag.Diagnostics, summary string, err error) {
	diags.AddError(summary, describe(err))
}

// addRefusal reports a failed call whose request the user wrote: what the service says about a field stands at its
// attribute. Of other fields, sensitive ones among them, only the name is told.
func addRefusal(diags *diag.Diagnostics, summary string, err error, fields fieldPaths) {
	var failure *client.Error
	if !errors.As(err, &failure) || failure.Problem == nil || len(failure.Problem.Errors) == 0 {
		addError(diags, summary, err)
		return
	}
	var others []string
	at := map[string][]string{}
	for _, complaint := range failure.Problem.Errors {
		field := complaint.Path[0].Name.Reveal()
		if _, known := fields[field]; known {
			at[field] = append(at[field], printable(complaint.Messages)...)
		} else {
			others = append(others, printableName(field))
		}
	}
	for _, field := range slices.Sorted(maps.Keys(at)) {
		diags.AddAttributeError(fields[field], summary, describe(err)+"\n\nThe service says: "+strings.Join(at[field], "; "))
	}
	if len(others) > 0 {
		slices.Sort(others)
		diags.AddError(summary, describe(err)+"\n\nThe service objects to these fields of the request, which no attribute stands for "+
			"by itself; see payload_json and field_names: "+strings.Join(slices.Compact(others), ", "))
	}
}

// describe gives the error's text, which holds nothing secret or personal, and what can be done.
func describe(err error) string {
	text := sentence(err)
	switch client.KindOf(err) {
	case client.KindCredentials:
		return text + "\n\nCheck username and password, client_id and client_secret, and that the user was granted API permissions."
	case client.KindUnreachable, client.KindConnection, client.KindTimeout:
		return text + "\n\nCheck base_url, the network, and a proxy or firewall between here and the service."
	case client.KindRateLimited:
		return text + "\n\nApply again later, with a lower -parallelism, or set max_requests_per_second in the provider block."
	case client.KindServer:
		return text + "\n\nThe trouble is on the side of the service. Try again later."
	case client.KindMethodNotAllowed, client.KindUnreadable:
		return text + "\n\nCheck that base_url is the address of the service, without /api/v1."
	default:
		return text
	}
}

// sentence makes a sentence of an error's text.
func sentence(err error) string {
	text := err.Error()
	for i, first := range text {
		text = string(unicode.ToUpper(first)) + text[i+len(string(first)):]
		break
	}
	return strings.TrimRight(text, ".") + "."
}

const maxMessage = 300

// printable gives the service's own words without what could spoil a terminal, and not endlessly many.
func printable(messages []client.Secret) []string {
	var texts []string
	for _, message := range messages {
		text := []rune(strings.Map(func(r rune) rune {
			if !unicode.IsPrint(r) {
				return ' '
			}
			return r
		}, message.Reveal()))
		texts = append(texts, string(text[:min(len(text), maxMessage)]))
	}
	return texts
}

var fieldName = regexp.MustCompile(`^[A-Za-z][A-Za-z0-9_.-]{0,63}$`)

// printableName gives the name of a field. What does not look like a name could be anything.
func printableName(name string) string {
	if !fieldName.MatchString(name) {
		return "a field with an unusual name"
	}
	return name
}
