// Command terraform-provider-idv is the Terraform provider of the identity verification service. Terraform and OpenTofu
// start it; run by hand it only says so.
package main

import (
	"context"
	"flag"
	"fmt"
	"os"
	"runtime/debug"

	"github.com/hashicorp/terraform-plugin-framework/providerserver"

	"github.com/mandate-io/idv/provider"
)

// version is set by the build: -ldflags "-X main.version=1.2.3".
var version = "dev"

func main() {
	wait := flag.Bool("debug", false, "wait for a debugger, and print the TF_REATTACH_PROVIDERS to start Terraform with")
	flag.Parse()
	if os.Getenv("GOMEMLIMIT") == "" {
		// A run keeps little and makes much garbage, ten resources at a time; a CLI may run many providers beside each other.
		debug.SetMemoryLimit(48 << 20)
	}
	options := providerserver.ServeOpts{Address: provider.Address, Debug: *wait}
	if err := providerserver.Serve(context.Background(), provider.New(version), options); err != nil {
		fmt.Fprintln(os.Stderr, "terraform-provider-idv:", err)
		os.Exit(1)
	}
}
