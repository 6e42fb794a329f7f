package provider

import (
	"errors"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"unicode"

	"github.com/hashicorp/terraform-plugin-framework/diag"
	"github.com/hashicorp/terraform-plugin-framework/path"

	"github.com/mandate-io/idv/internal/client"
)

// sentRequest is what may be told of a request that the service refuses.
type sentRequest struct {
	// fields says at which attribute a complaint of the service belongs, by the folded name of the field in the request.
	// Only fields whose messages may be shown are in it.
	fields map[string]path.Path
	// items are the values of those fields that are lists, in the order in which they were sent.
	items map[string][]string
	// secrets are texts that no message may repeat.
	secrets []string
}

// addError reports a failed call.
func addError(diags *diag.Diagnostics, summary string, err error) {
	diags.AddError(summary, describe(err))
}

// addRefusal reports a failed call whose request the user wrote: what the service says about a field stands at its
// attribute. Of other fields, sensitive ones among them, only the name is told, at the resource: at an attribute, Terraform
// prints the line with the value.
func addRefusal(diags *diag.Diagnostics, summary string, err error, sent sentRequest) {
	var failure *client.Error
	if !errors.As(err, &failure) || failure.Problem == nil || len(failure.Problem.Errors) == 0 {
		addError(diags, summary, err)
		return
	}
	var others []string
	at := map[string][]string{}
	for _, complaint := range failure.Problem.Errors {
		name := complaint.Path[0].Name.Reveal()
		field := client.FoldName(name)
		if _, known := sent.fields[field]; known {
			at[field] = append(at[field], sent.messages(field, complaint)...)
		} else {
			others = append(others, printableName(name))
		}
	}
	byAttribute := func(a, b string) int { return strings.Compare(sent.fields[a].String(), sent.fields[b].String()) }
	for _, field := range slices.SortedFunc(maps.Keys(at), byAttribute) {
		diags.AddAttributeError(sent.fields[field], summary, describe(err)+"\n\nThe service says: "+strings.Join(at[field], "; "))
	}
	if len(others) > 0 {
		slices.Sort(others)
		diags.AddError(summary, describe(err)+"\n\nThe service objects to these fields of the request, which no attribute stands for "+
			"by itself; see payload_json, payload_json_wo and field_names: "+strings.Join(slices.Compact(others), ", "))
	}
}

// messages are the service's words about a field, or about one of its items, which they name.
func (s sentRequest) messages(field string, complaint client.FieldError) []string {
	messages := printable(complaint.Messages)
	for n, message := range messages {
		if slices.ContainsFunc(s.secrets, func(secret string) bool { return strings.Contains(message, secret) }) {
			messages[n] = "a message that repeats something secret, and is not shown"
		}
	}
	if len(messages) == 0 {
		messages = []string{"nothing more"}
	}
	if len(complaint.Path) > 1 {
		if n, ok := itemIndex(complaint.Path[1]); ok && n < len(s.items[field]) {
			messages[0] = fmt.Sprintf("about %q: %s", s.items[field][n], messages[0])
		}
	}
	return messages
}

// itemIndex reads a step into a list, which some services write as an object with the indexes as names.
func itemIndex(step client.PathStep) (int, bool) {
	if step.Index >= 0 {
		return step.Index, true
	}
	n, err := strconv.Atoi(step.Name.Reveal())
	return n, err == nil && n >= 0
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
	case client.KindNotFound:
		return text + "\n\nCheck the id, and that the credentials are those of its account. The service deletes applications eight weeks after their creation."
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
