package provider

import (
	"slices"
	"strings"

	"github.com/mandate-io/idv/internal/client"
	"github.com/mandate-io/idv/internal/printable"
)

// messageFilter decides which texts of the service a diagnostic may show. They can repeat what was sent.
type messageFilter struct {
	// secrets are texts that no diagnostic may repeat.
	secrets []string
	// service knows its credentials and tokens. Without it, no title and no detail of the service is shown.
	service *client.Client
}

const (
	maxMessageLength = 300
	hiddenMessage    = "(not shown, because it repeats a sensitive value)"
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
// asks for lists of types and countries.
var aboutNoPerson = map[client.Operation]bool{client.OpSubscribeWebhook: true, client.OpRetrieveReferences: true}

// summary returns what the service says about a failure, as a sentence that follows another one; "" if nothing.
func (f messageFilter) summary(failure *client.Error) string {
	if failure == nil || f.service == nil || !aboutNoPerson[failure.Operation] || failure.Login || failure.Problem == nil {
		return ""
	}
	var texts []string
	for _, text := range []client.Secret{failure.Problem.Title, failure.Problem.Detail} {
		if shown := strings.TrimRight(f.show(text), "."); shown != "" && !slices.Contains(texts, shown) {
			texts = append(texts, shown)
		}
	}
	if len(texts) == 0 {
		return ""
	}
	return " Message of the service: " + strings.Join(texts, ": ") + "."
}
