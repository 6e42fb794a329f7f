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

// A CLI runs ten operations at a time. A data race in the logger of their requests would crash the provider in the
// middle of an apply.
func TestConcurrentRequestsAreLogged(t *testing.T) {
	const goroutines, entriesEach = 8, 500
	var log bytes.Buffer
	// The framework adds fields to the context of Configure.
	ctx := tflog.SetField(tflogtest.RootLogger(t.Context(), &log), "tf_rpc", "ConfigureProvider")
	observe := block("password", types.StringValue("canary-password")).requestLogger(ctx)

	var wait sync.WaitGroup
	for range goroutines {
		wait.Go(func() {
			for range entriesEach {
				observe(client.RequestResult{Operation: "RetrieveWebhook-canary-password", Status: 200})
			}
		})
	}
	wait.Wait()

	entries, err := tflogtest.MultilineJSONDecode(strings.NewReader(log.String()))
	if err != nil {
		t.Fatal(err)
	}
	if len(entries) != goroutines*entriesEach {
		t.Errorf("want %d entries, got %d", goroutines*entriesEach, len(entries))
	}
	for _, entry := range entries {
		if entry["operation"] != "RetrieveWebhook-***" || entry["tf_rpc"] != "ConfigureProvider" {
			t.Fatalf("want the masked operation and the fields of the context, got %v", entry)
		}
	}
}
