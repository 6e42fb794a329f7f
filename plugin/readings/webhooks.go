package readings

import (
	"context"
	"fmt"
	"net/http"
	"slices"
	"strconv"
	"strings"

	"github.com/mandate-io/idv/internal/client"
)

// webhook reads the subscription of an application, whose members show the names of the fields.
func (c *check) webhook(ctx context.Context, application int64) error {
	response, err := c.get(ctx, "/ext/webhooks/retrieve/"+strconv.FormatInt(application, 10), c.token)
	switch {
	case err != nil:
		return err
	case response.status == http.StatusNotFound:
		c.found("noWebhooks", "404", "retrieve webhook answers 404: there is no subscription for the application, or the "+
			"service never shows one")
		return nil
	case !response.ok():
		c.unknown("retrieveWebhook", "the webhook cannot be read: HTTP status %d", response.status)
		return nil
	}
	c.collectNames(response)
	v, _ := parse(response.body).unwrap("data")
	_, isList := v.list()
	subscriptions := webhooksIn(v)
	switch {
	case len(subscriptions) == 0:
		c.found("noWebhooks", "empty_list", "retrieve webhook answers without a subscription")
		return nil
	case isList:
		c.found("retrieveWebhook", "list", "retrieve webhook answers with a list")
	case value{subscriptions[0]}.sameObject(v):
		c.found("retrieveWebhook", "object", "retrieve webhook answers with one subscription: others may exist")
	default:
		c.found("retrieveWebhook", "wrapped", "retrieve webhook answers with a list in an object")
	}
	c.fieldNames(value{subscriptions[0]}, application)
	return nil
}

func (v value) sameObject(other value) bool {
	return fmt.Sprint(v.decoded) == fmt.Sprint(other.decoded)
}

// webhooksIn are the objects that have a URL.
func webhooksIn(v value) []any {
	var found []any
	if o := v.object(); o != nil && urlMember(v) != "" {
		return []any{v.decoded}
	}
	if list, ok := v.list(); ok {
		for _, item := range list {
			found = append(found, webhooksIn(value{item})...)
		}
	}
	for _, member := range v.object() {
		found = append(found, webhooksIn(value{member})...)
	}
	return found
}

func urlMember(v value) string {
	for name, member := range v.object() {
		if isURL(value{member}) {
			return name
		}
	}
	return ""
}

// fieldNames compares the names of members with those that the provider sends.
func (c *check) fieldNames(subscription value, application int64) {
	names := map[string]string{"url": urlMember(subscription)}
	for name, member := range subscription.object() {
		_, isList := value{member}.list()
		folded := client.FoldName(name)
		switch {
		case fmt.Sprint(member) == strconv.FormatInt(application, 10) && folded != "id":
			names["application_id"] = name
		case isList && slices.ContainsFunc([]string{"event", "topic"}, func(w string) bool {
			return strings.Contains(folded, w)
		}):
			names["events"] = name
		}
	}
	renamed := map[string]string{}
	for ours, theirs := range names {
		if theirs != "" && client.FoldName(theirs) != client.FoldName(ours) {
			renamed[ours] = theirs
		}
	}
	if len(renamed) == 0 {
		c.found("subscribeFields", "standard", "a subscription has the names that the provider sends")
		return
	}
	c.result.Suggestion.FieldNames = renamed
	c.found("subscribeFields", "renamed", "a subscription has other names than the provider sends by default")
}
