package provider

import (
	"errors"
	"fmt"
	"maps"
	"net/http"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode"

	"github.com/hashicorp/terraform-plugin-framework/diag"
	"github.com/hashicorp/terraform-plugin-framework/path"

	"github.com/mandate-io/idv/internal/client"
	"github.com/mandate-io/idv/internal/client/wire"
	"github.com/mandate-io/idv/internal/printable"
)

// messageFilter decides which texts of the service a diagnostic may show. They can repeat what was sent.
type messageFilter struct {
	// secrets are texts that no diagnostic may repeat.
	secrets []string
	// service knows its credentials and tokens. Without it, no title and no detail of the service is shown.
	service *client.Client
	// hasApplication says that the request names an application, whose people the texts can be about: but for a title,
	// none is shown.
	hasApplication bool
}

// requestFields says which parts of a rejected request a diagnostic may show.
type requestFields struct {
	// attributes maps the folded name of a field to its attribute. Only fields whose messages may be shown are in it.
	attributes map[string]path.Path
	// items holds the values of the fields that are lists, in the order of the request.
	items map[string][]string
	messageFilter
}

// addRejection reports a failed request whose fields the user wrote. The service's messages about a field go to its
// attribute. For other fields, only the name is shown, and at the resource: at an attribute, Terraform prints the line
// with the value, which may be sensitive.
func addRejection(diags *diag.Diagnostics, summary string, err error, fields requestFields) {
	failure, ok := errors.AsType[*client.Error](err)
	if !ok || failure.Problem == nil || len(failure.Problem.Errors) == 0 {
		diags.AddError(summary, fields.errorDetail(err))
		return
	}
	var invalid, others []string
	messages := map[string][]string{}
	for _, fieldError := range failure.Problem.Errors {
		name := fieldError.Path[0].Name.Reveal()
		invalid = append(invalid, printableName(name))
		key := wire.FoldName(name)
		if _, ok := fields.attributes[key]; ok {
			messages[key] = append(messages[key], fields.messages(key, fieldError)...)
		} else {
			others = append(others, printableName(name))
		}
	}
	detail := withAction(fields.errorCause(err, invalid...), err)
	byAttribute := func(a, b string) int {
		return strings.Compare(fields.attributes[a].String(), fields.attributes[b].String())
	}
	for _, key := range slices.SortedFunc(maps.Keys(messages), byAttribute) {
		message := detail + "\n\nMessage of the service about this field: " + strings.Join(messages[key], "; ")
		if at := fields.attributes[key]; at.Equal(path.Empty()) { // a write-only argument, whose line may not be shown
			diags.AddError(summary, message)
		} else {
			diags.AddAttributeError(at, summary, message)
		}
	}
	if len(others) > 0 {
		diags.AddError(summary, detail+"\n\nRejected fields without an attribute of their own: "+uniqueList(others)+
			". Set them in `payload_json` or `payload_json_wo`, or map names with `webhook_field_names` of the provider block.")
	}
}

// messages returns the service's texts about a field, or about one of its items, which they name.
func (f requestFields) messages(key string, fieldError client.FieldError) []string {
	var messages []string
	for _, message := range fieldError.Messages {
		shown := personalMessage
		if !f.hasApplication {
			shown = f.show(message)
		}
		messages = append(messages, shown)
	}
	if len(messages) == 0 {
		messages = []string{"(none)"}
	}
	if len(fieldError.Path) > 1 {
		if n, ok := itemIndex(fieldError.Path[1]); ok && n < len(f.items[key]) {
			messages[0] = fmt.Sprintf("%q: %s", f.items[key][n], messages[0])
		}
	}
	return messages
}

// itemIndex reads a list index. Some services write a list of errors as an object with the indexes as names.
func itemIndex(step client.PathStep) (int, bool) {
	if step.Index >= 0 {
		return step.Index, true
	}
	n, err := strconv.Atoi(step.Name.Reveal())
	return n, err == nil && n >= 0
}

// errorDetail gives the cause of an error and the action to take. It holds nothing secret or personal.
func errorDetail(err error) string { return messageFilter{}.errorDetail(err) }

// errorDetail is errorDetail with what the service says, if the request is about no person.
func (f messageFilter) errorDetail(err error) string { return withAction(f.errorCause(err), err) }

// errorCause names the rejected fields: the given ones, or else those that the interface knows. Any other name may be
// personal data.
func (f messageFilter) errorCause(err error, fields ...string) string {
	failure, ok := errors.AsType[*client.Error](err)
	switch {
	case ok && isRejection(failure):
		cause := fmt.Sprintf("The service rejected the request (%s)%s.", httpStatus(failure), noEffect[failure.Operation])
		if fields == nil && failure.Problem != nil {
			for _, fieldError := range failure.Problem.Errors {
				fields = append(fields, fieldError.Path[0].Field)
			}
		}
		if names := uniqueList(fields); names != "" {
			cause += " Invalid fields: " + names + "."
		}
		return cause + f.summary(failure) + pauseOf(failure)
	case ok && failure.Kind == client.KindServer && failure.Status != 0 && !failure.Login:
		return fmt.Sprintf("The service returned an error (%s).", httpStatus(failure)) + f.summary(failure) + pauseOf(failure)
	default:
		return asSentence(err) + f.summary(failure) + pauseOf(err)
	}
}

// isRejection reports whether the service answered the request itself, and proved that it did nothing. The client's own
// text says more about what is forbidden, and about what may be the answer of a proxy.
func isRejection(failure *client.Error) bool {
	refused := client.IsRefusal(failure) || failure.Kind == client.KindRateLimited && !failure.Login
	return refused && failure.Outcome == client.Refused && failure.Status != 0
}

// noEffect says what a rejected request did not do.
var noEffect = map[client.Operation]string{
	client.OpSubscribeWebhook: "; nothing was created",
	client.OpResendInvites:    "; no e-mail was sent",
}

func httpStatus(failure *client.Error) string {
	return strings.TrimSpace(fmt.Sprintf("HTTP %d %s", failure.Status, http.StatusText(failure.Status)))
}

func withAction(cause string, err error) string {
	if action := actionFor(client.KindOf(err)); action != "" {
		return cause + "\n\n" + action
	}
	return cause
}

func actionFor(kind client.Kind) string {
	switch kind {
	case client.KindCredentials:
		return "Check `username` and `password`, and `client_id` and `client_secret`. The user needs API permissions."
	case client.KindForbidden:
		return "Ask the service's support for the permission: the user needs API permissions for this operation."
	case client.KindUnproven:
		return "Check `base_url`, and any proxy or ingress in front of the service."
	case client.KindUnreachable, client.KindConnection, client.KindTimeout:
		return "Check `base_url`, the network, and any proxy or firewall in front of the service."
	case client.KindRateLimited:
		return "Apply again later with a lower `-parallelism`, or set `max_requests_per_second` in the provider block."
	case client.KindNotFound:
		return "Check the ID, and that the credentials belong to the account that owns it. " +
			"The service deletes an application eight weeks after its creation."
	case client.KindServer:
		return "The error is on the side of the service. Try again later."
	case client.KindMethodNotAllowed, client.KindUnreadable:
		return "Check that `base_url` is the address of the service without `/api/v1`."
	default:
		return ""
	}
}

// asSentence capitalises the text of an error and ends it with a period.
func asSentence(err error) string {
	text := []rune(strings.TrimRight(err.Error(), "."))
	if len(text) > 0 {
		text[0] = unicode.ToUpper(text[0])
	}
	return string(text) + "."
}

// uniqueList leaves out empty names.
func uniqueList(names []string) string {
	slices.Sort(names)
	return strings.TrimPrefix(strings.Join(slices.Compact(names), ", "), ", ")
}

var fieldName = regexp.MustCompile(`^[A-Za-z][A-Za-z0-9_.-]{0,63}$`)

// printableName returns the name of a field. A text that does not look like a name may hold anything.
func printableName(name string) string {
	if !fieldName.MatchString(name) {
		return "a field with an unusual name"
	}
	return name
}

// pauseOf says how long to wait before the next request, as a sentence that follows another one; "" if nothing asks to.
func pauseOf(err error) string {
	failure, ok := errors.AsType[*client.Error](err)
	switch {
	case !ok || failure.RetryAfter <= 0 || failure.Kind == client.KindCredentials:
		return ""
	case failure.Status != 0:
		return fmt.Sprintf(" The service asks for a pause of %s (Retry-After).", failure.RetryAfter.Round(time.Second))
	default:
		return fmt.Sprintf(" The next request is due in %s.", failure.RetryAfter.Round(time.Second))
	}
}

const (
	maxMessageLength = 300
	hiddenMessage    = "(not shown, because it repeats a sensitive value)"
	personalMessage  = "(not shown, because it may be about a person)"
)

// show returns a text on one line, and limits its length.
func (f messageFilter) show(message client.Secret) string {
	text := strings.TrimSpace(message.Reveal())
	if f.repeatsSecret(text) || f.repeatsSecret(printable.WithoutInvisible(text)) {
		return hiddenMessage
	}
	if f.service != nil {
		text = printable.Hide(text, f.service.Usernames()...)
	}
	if printable.MayHaveAddress(text) {
		return personalMessage
	}
	return printable.Cut(strings.Join(strings.Fields(text), " "), maxMessageLength)
}

func (f messageFilter) repeatsSecret(text string) bool {
	secrets := slices.Clone(f.secrets)
	if f.service != nil {
		for _, secret := range f.service.Secrets() {
			secrets = append(secrets, secret.Reveal())
		}
	}
	return slices.ContainsFunc(secrets, func(secret string) bool {
		return secret != "" && printable.ContainsSecret(text, secret)
	})
}

// aboutNoPerson has the requests whose refusal can say nothing about a person: the user wrote the one, and the other
// asks for lists of types and countries. One that names an application is not among them; see hasApplication.
var aboutNoPerson = map[client.Operation]bool{client.OpSubscribeWebhook: true, client.OpRetrieveReferences: true}

// summary returns what the service says about a failure, as a sentence that follows another one; "" if nothing.
func (f messageFilter) summary(failure *client.Error) string {
	if failure == nil || f.service == nil || !aboutNoPerson[failure.Operation] || failure.Login || failure.Problem == nil {
		return ""
	}
	said := []client.Secret{failure.Problem.Title, failure.Problem.Detail}
	if f.hasApplication {
		said = said[:1]
	}
	var texts []string
	for _, text := range said {
		if shown := strings.TrimRight(f.show(text), "."); shown != "" && !slices.Contains(texts, shown) {
			texts = append(texts, shown)
		}
	}
	if len(texts) == 0 {
		return ""
	}
	return " Message of the service: " + strings.Join(texts, ": ") + "."
}
