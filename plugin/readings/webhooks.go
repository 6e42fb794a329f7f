package readings

import (
	"context"
	"regexp"
	"strconv"
	"strings"

	"github.com/mandate-io/idv/internal/client"
	"github.com/mandate-io/idv/internal/client/wire"
)

// webhook reads the subscription of an application, whose members show the names of the fields.
func (c *check) webhook(ctx context.Context, application int64) {
	const point = "retrieveWebhook"
	request := func(names ...string) (*client.Webhooks, answer) {
		return read(ctx, c, func() (*client.Webhooks, error) { return c.client.RetrieveWebhook(ctx, application, names...) })
	}
	webhooks, a := request()
	if a.err == nil && len(webhooks.Items) == 0 {
		if name := regexp.MustCompile(url).FindStringSubmatch(a.json.Raw()); name != nil {
			webhooks, a = request(name[1])
		}
	}
	switch {
	case client.IsNotFound(a.err):
		c.found("noWebhooks", "404", "there is no subscription for the application, or the service never shows one")
		return
	case a.err != nil:
		c.notRead(point, a)
		return
	case len(webhooks.Items) == 0:
		c.saw("noWebhooks", "empty_list")
		return
	case c.inWrap(a.json).IsList():
		c.saw(point, "list")
	case webhooks.List:
		c.saw(point, "wrapped")
	default:
		c.found(point, "object", "retrieve webhook answers with one subscription: others may exist")
	}
	c.fieldNames(webhooks.Items[0], application)
}

// fieldNames compares the names of members with those that the provider sends.
func (c *check) fieldNames(webhook client.Webhook, application int64) {
	v, _ := wire.Parse(webhook.Raw.Reveal())
	renamed := map[string]string{}
	for _, m := range v.Object() {
		folded, ours := wire.FoldName(m.Name), ""
		switch {
		case m.Value.Text() == webhook.URL.Reveal():
			ours = "url"
		case m.Value.Text() == strconv.FormatInt(application, 10) && folded != "id":
			ours = "application_id"
		case m.Value.IsList() && (strings.Contains(folded, "event") || strings.Contains(folded, "topic")):
			ours = "events"
		}
		if ours != "" && wire.FoldName(ours) != folded {
			renamed[ours] = m.Name
		}
	}
	if len(renamed) == 0 {
		c.saw("subscribeFields", "standard")
		return
	}
	c.result.Suggestion.FieldNames = renamed
	c.found("subscribeFields", "renamed", "a subscription has other names than the provider sends by default")
}
