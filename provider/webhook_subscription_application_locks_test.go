package provider

import (
	"context"
	"strings"
	"testing"
	"time"

	"github.com/hashicorp/terraform-plugin-framework/diag"
	"github.com/hashicorp/terraform-plugin-framework/types"
)

// A read can time out without any interrupt, so the warning names both causes.
func TestReadBackTimeout(t *testing.T) {
	var connection connection
	if _, ok := connection.acquire(t.Context(), types.Int64Value(4711)); !ok {
		t.Fatal("the lock is not free")
	}
	ctx, cancel := context.WithDeadline(t.Context(), time.Now())
	defer cancel()
	var warnings diag.Diagnostics
	c := creation{plan: model(nil), connection: &connection, diags: &warnings}
	c.readBackWithOthers(ctx)
	if len(warnings) != 1 || !strings.Contains(warnings[0].Detail(), "timed out") {
		t.Errorf("want a warning about the timeout, got %v", warnings)
	}
}
