package provider

import (
	"bytes"
	"strings"
	"sync"
	"testing"

	"github.com/hashicorp/terraform-plugin-framework/types"
	"github.com/hashicorp/terraform-plugin-log/tflog"
	"github.com/hashicorp/terraform-plugin-log/tflogtest"

	"github.com/mandate-io/idv/internal/client"
)

// A CLI has ten requests and more on their way at a time, and what logs them must bear that they end together: it is a
// fatal error of the whole process that nothing recovers from, in the middle of an apply.
func TestRequestsThatEndTogetherAreLogged(t *testing.T) {
	const together, each = 8, 500
	var log bytes.Buffer
	// As in a run: the framework has put fields into the context of Configure.
	ctx := tflog.SetField(tflogtest.RootLogger(t.Context(), &log), "tf_rpc", "ConfigureProvider")
	observe := providerModel{Password: types.StringValue("canary-password")}.logRequests(ctx)

	var ends sync.WaitGroup
	for range together {
		ends.Go(func() {
			for range each {
				observe(client.RequestResult{Operation: "RetrieveWebhook-canary-password", Status: 200})
			}
		})
	}
	ends.Wait()

	entries, err := tflogtest.MultilineJSONDecode(strings.NewReader(log.String()))
	if err != nil {
		t.Fatal(err)
	}
	if len(entries) != together*each {
		t.Errorf("want %d lines, got %d", together*each, len(entries))
	}
	for _, entry := range entries {
		if entry["operation"] != "RetrieveWebhook-***" || entry["tf_rpc"] != "ConfigureProvider" {
			t.Fatalf("want the masked operation and the fields of the context, got %v", entry)
		}
	}
}
