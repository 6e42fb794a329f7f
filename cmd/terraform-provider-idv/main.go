// Command terraform-provider-idv is the Terraform provider of the identity verification service. Terraform and OpenTofu
// start it; run by hand it only says so.
package main

import (
	"context"
	"flag"
	"fmt"
	"os"
	"runtime/debug"
	"strings"

	"github.com/hashicorp/terraform-plugin-framework/providerserver"

	"github.com/mandate-io/idv/internal/client"
	"github.com/mandate-io/idv/provider"
)

// version is set by the build: -ldflags "-X main.version=1.2.3".
var version = "dev"

func main() {
	client.RedactStandardLog()
	wait := flag.Bool("debug", false, "wait for a debugger, and print the TF_REATTACH_PROVIDERS to start Terraform with")
	flag.Parse()
	// A run keeps little and makes much garbage, ten resources at a time: it is collected seldom, but before there is much of
	// it, because a CLI may run many providers beside each other.
	if os.Getenv("GOGC") == "" {
		debug.SetGCPercent(400)
	}
	if os.Getenv("GOMEMLIMIT") == "" {
		debug.SetMemoryLimit(64 << 20)
	}
	withoutUnreadLogs()
	options := providerserver.ServeOpts{Address: provider.Address, Debug: *wait}
	if err := providerserver.Serve(context.Background(), provider.New(version), options); err != nil {
		fmt.Fprintln(os.Stderr, "terraform-provider-idv:", err)
		os.Exit(1)
	}
}

// withoutUnreadLogs keeps the framework from writing traces that nobody asked for: it writes them whether the CLI wants them
// or not, and writing, reading and dropping them takes both programs a third of a large plan.
func withoutUnreadLogs() {
	for _, variable := range os.Environ() {
		if name, value, _ := strings.Cut(variable, "="); strings.HasPrefix(name, "TF_LOG") && name != "TF_LOG_PATH" && value != "" {
			return
		}
	}
	for _, logger := range []string{"TF_LOG_SDK", "TF_LOG_SDK_FRAMEWORK", "TF_LOG_SDK_PROTO", "TF_LOG_PROVIDER"} {
		_ = os.Setenv(logger, "OFF")
	}
}
