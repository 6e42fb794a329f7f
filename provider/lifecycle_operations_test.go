package provider_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/mandate-io/idv/internal/client"
)

// lifecycleOperation is one row of the table in the guide about the lifecycle.
type lifecycleOperation struct {
	name string
	// prepare brings the cell into the state before the operation. Without it, the resource is applied.
	prepare func(*testing.T, *lifecycleCell)
	// configure writes the configuration of the operation. Without it, the configuration stays as it is.
	configure func(*testing.T, *lifecycleCell)
	// plan holds further arguments of the command plan.
	plan []string
}

const (
	receiver      = "https://hooks.example.com/idv"
	otherReceiver = "https://hooks.example.com/other"
)

var lifecycleOperations = []lifecycleOperation{
	{name: "Create", prepare: func(t *testing.T, l *lifecycleCell) { l.configure(t, receiver, "") }},
	{name: "No change"},
	{name: "Change of `url`", configure: changed(otherReceiver, "")},
	{name: "Change of `events`", configure: changed(receiver, `events = ["application.completed"]`)},
	{name: "Change of `payload_json`", configure: changed(receiver, `payload_json = jsonencode({ note = "changed" })`)},
	{name: "Another form of the same request", configure: changed("https://hooks.example.com:443/idv",
		"payload_json = jsonencode({ url = \"https://hooks.example.com/idv\" })")},
	{name: "Change of `deletion_policy` only", configure: func(t *testing.T, l *lifecycleCell) {
		l.deletionPolicy = map[string]string{"PREVENT": "ABANDON", "ABANDON": "PREVENT"}[l.deletionPolicy]
		l.configure(t, receiver, "")
	}},
	{name: "Change of `deletion_policy` and `url`", configure: func(t *testing.T, l *lifecycleCell) {
		l.deletionPolicy = map[string]string{"PREVENT": "ABANDON", "ABANDON": "PREVENT"}[l.deletionPolicy]
		l.configure(t, otherReceiver, "")
	}},
	{
		name:      "Change of `response_export_values` only",
		configure: changed(receiver, `response_export_values = { id = "/id" }`),
	},
	{name: "From `url` to an equal `url_wo`", configure: changedWriteOnly(receiver, 1)},
	{name: "From `url` to another `url_wo`", configure: changedWriteOnly(otherReceiver, 1)},
	{name: "From `url_wo` to an equal `url`", prepare: appliedWriteOnly, configure: changed(receiver, "")},
	{
		name: "Another `url_wo`, same `url_wo_version`", prepare: appliedWriteOnly,
		configure: changedWriteOnly(otherReceiver, 1),
	},
	{
		name: "Another `url_wo`, another `url_wo_version`", prepare: appliedWriteOnly,
		configure: changedWriteOnly(otherReceiver, 2),
	},
	{
		name: "Same `url_wo`, another `url_wo_version`", prepare: appliedWriteOnly,
		configure: changedWriteOnly(receiver, 2),
	},
	{name: "`-replace`", plan: []string{"-replace=" + ops}},
	{name: "`-replace` and a change of `events`", plan: []string{"-replace=" + ops},
		configure: changed(receiver, `events = ["application.completed"]`)},
	{name: "`replace_triggered_by`", prepare: triggered("first"), configure: triggered("second")},
	{
		name:      "`create_before_destroy`, change of `url`",
		prepare:   applied(receiver, createBeforeDestroy),
		configure: changed(otherReceiver, createBeforeDestroy),
	},
	{
		name: "`create_before_destroy`, `-replace`", plan: []string{"-replace=" + ops},
		prepare: applied(receiver, createBeforeDestroy),
	},
	{
		name:      "`create_before_destroy`, change of `events`",
		prepare:   applied(receiver, createBeforeDestroy),
		configure: changed(receiver, `events = ["application.completed"]`+"\n  "+createBeforeDestroy),
	},
	{name: "`create_before_destroy`, `taint`", prepare: func(t *testing.T, l *lifecycleCell) {
		applied(receiver, createBeforeDestroy)(t, l)
		l.must(t, "taint", ops)
	}},
	{name: "`moved` block, new name", configure: func(t *testing.T, l *lifecycleCell) {
		renamed := strings.Replace(l.subscription(receiver, ""), `"ops"`, `"renamed"`, 1)
		l.write(t, renamed+"moved {\n  from = "+ops+"\n  to = idv_webhook_subscription.renamed\n}")
	}},
	{name: "`removed` block with `destroy = false`", configure: func(t *testing.T, l *lifecycleCell) {
		l.write(t, "removed {\n  from = "+ops+"\n  lifecycle {\n    destroy = false\n  }\n}")
	}},
	{name: "Block removed from the configuration", configure: func(t *testing.T, l *lifecycleCell) { l.write(t, "") }},
	{name: "`destroy`", plan: []string{"-destroy"}},
	{name: "`import` block with an id", prepare: subscribed, configure: func(t *testing.T, l *lifecycleCell) {
		l.write(t, l.subscription(receiver, "")+l.importBlock())
	}},
	{
		name: "`import` block with an identity", prepare: subscribed,
		configure: func(t *testing.T, l *lifecycleCell) {
			l.write(t, l.subscription(receiver, "")+fmt.Sprintf(
				"import {\n  to = %s\n  identity = {\n    application_id = %d\n    url_sha256 = %q\n  }\n}",
				ops, l.application, hookDigest))
		},
	},
	{name: "`import` command, then apply", prepare: func(t *testing.T, l *lifecycleCell) {
		l.subscribe(t)
		l.configure(t, receiver, "")
		l.must(t, "import", "-input=false", ops, fmt.Sprintf("%d/%s", l.application, receiver))
	}},
	{name: "`import` of a subscription with further arguments", prepare: subscribed,
		configure: func(t *testing.T, l *lifecycleCell) {
			l.write(t, l.subscription(receiver, "timeouts {\n    read = \"5s\"\n  }\n  "+
				"payload_json = jsonencode({ note = \"kept\" })\n  payload_json_wo = jsonencode({ secret = \"s3cret\" })")+
				l.importBlock())
		}},
	{
		name: "`import` block with an id, and `url_wo`", prepare: subscribed,
		configure: func(t *testing.T, l *lifecycleCell) { l.write(t, l.writeOnly(receiver, 1)+l.importBlock()) },
	},
	{name: "The application is gone, no change", prepare: gone},
	{
		name: "The application is gone, change of `events`", prepare: gone,
		configure: changed(receiver, `events = ["application.completed"]`),
	},
	{name: "The application is gone, `-replace`", prepare: gone, plan: []string{"-replace=" + ops}},
	{name: "The application is gone, `destroy`", prepare: gone, plan: []string{"-destroy"}},
	{name: "The application is gone, create", prepare: func(t *testing.T, l *lifecycleCell) {
		l.deleteApplication(t)
		l.configure(t, receiver, "")
	}},
	{name: "`taint`, then apply", prepare: func(t *testing.T, l *lifecycleCell) {
		applied(receiver, "")(t, l)
		l.must(t, "taint", ops)
	}},
	{name: "`taint` and `untaint`, then apply", prepare: func(t *testing.T, l *lifecycleCell) {
		applied(receiver, "")(t, l)
		l.must(t, "taint", ops)
		l.must(t, "untaint", ops)
	}},
	{name: "`state rm`, then apply", prepare: func(t *testing.T, l *lifecycleCell) {
		applied(receiver, "")(t, l)
		l.must(t, "state", "rm", ops)
	}},
}

const createBeforeDestroy = "lifecycle {\n    create_before_destroy = true\n  }"

// changed writes the configuration of the resource.
func changed(url, more string) func(*testing.T, *lifecycleCell) {
	return func(t *testing.T, l *lifecycleCell) {
		t.Helper()
		l.configure(t, url, more)
	}
}

// applied writes the configuration of the resource and applies it.
func applied(url, more string) func(*testing.T, *lifecycleCell) {
	return func(t *testing.T, l *lifecycleCell) {
		t.Helper()
		l.configure(t, url, more)
		l.must(t, "apply", "-auto-approve")
	}
}

const replaceTriggeredBy = "lifecycle {\n    replace_triggered_by = [terraform_data.trigger]\n  }"

func trigger(value string) string {
	return fmt.Sprintf("resource \"terraform_data\" \"trigger\" {\n  input = %q\n}\n", value)
}

// triggered configures replace_triggered_by, and applies the first value.
func triggered(value string) func(*testing.T, *lifecycleCell) {
	return func(t *testing.T, l *lifecycleCell) {
		t.Helper()
		l.write(t, l.subscription(receiver, replaceTriggeredBy)+trigger(value))
		if value == "first" {
			l.must(t, "apply", "-auto-approve")
		}
	}
}

// subscribed creates the subscription at the service, and nothing in the state.
func subscribed(t *testing.T, l *lifecycleCell) {
	t.Helper()
	l.subscribe(t)
}

// lifecycleCell is one operation with one choice of policies.
type lifecycleCell struct {
	*workspace
	service        *service
	application    int64
	deletionPolicy string
	gone           bool // the service has deleted the application
}

func (l *lifecycleCell) subscription(url, more string) string {
	return subscription(l.application, url, fmt.Sprintf("deletion_policy = %q\n  %s", l.deletionPolicy, more))
}

// writeOnly is the subscription with its URL in url_wo.
func (l *lifecycleCell) writeOnly(url string, version int) string {
	config := strings.Replace(l.subscription(url, ""), "  url = ", "  url_wo = ", 1)
	versioned := fmt.Sprintf("  url_wo_version = %d\n  deletion_policy", version)
	return strings.Replace(config, "  deletion_policy", versioned, 1)
}

// changedWriteOnly is changed for url_wo.
func changedWriteOnly(url string, version int) func(*testing.T, *lifecycleCell) {
	return func(t *testing.T, l *lifecycleCell) {
		t.Helper()
		l.write(t, l.writeOnly(url, version))
	}
}

func appliedWriteOnly(t *testing.T, l *lifecycleCell) {
	t.Helper()
	l.write(t, l.writeOnly(receiver, 1))
	l.must(t, "apply", "-auto-approve")
}

// gone applies the resource, and deletes its application.
func gone(t *testing.T, l *lifecycleCell) {
	t.Helper()
	applied(receiver, "")(t, l)
	l.deleteApplication(t)
}

func (l *lifecycleCell) deleteApplication(t *testing.T) {
	t.Helper()
	l.gone = true
	if _, err := l.service.client.DeleteApplication(t.Context(), l.application); err != nil {
		t.Fatal(err)
	}
}

func (l *lifecycleCell) importBlock() string {
	return fmt.Sprintf("import {\n  to = %s\n  id = \"%d/sha256:%s\"\n}", ops, l.application, hookDigest)
}

func (l *lifecycleCell) configure(t *testing.T, url, more string) {
	t.Helper()
	l.write(t, l.subscription(url, more))
}

func (l *lifecycleCell) write(t *testing.T, configuration string) {
	t.Helper()
	l.workspace.configure(t, configuration)
}

func (l *lifecycleCell) subscribe(t *testing.T) {
	t.Helper()
	request := client.Subscription{URL: client.Hide(receiver), ApplicationID: l.application}
	if _, err := l.service.client.SubscribeWebhook(t.Context(), request); err != nil {
		t.Fatal(err)
	}
}
