// Command terraform-provider-idv is the Terraform provider of the identity verification service. Terraform and OpenTofu
// start it; started from a shell, it only prints a message.
package main

import (
	"flag"
	"fmt"
	"os"
	"runtime/debug"
	"strings"

	"github.com/hashicorp/terraform-plugin-go/tfprotov6/tf6server"

	"github.com/mandate-io/idv/internal/client"
	"github.com/mandate-io/idv/internal/version"
	"github.com/mandate-io/idv/provider"
)

func main() {
	client.RedactStandardLog()
	debugger := flag.Bool("debug", false,
		"Run for a debugger, and print the TF_REATTACH_PROVIDERS value for Terraform. (default false)")
	showVersion := flag.Bool("version", false, "Print the version and exit. (default false)")
	flag.Parse()
	if *showVersion {
		fmt.Println(version.Line("terraform-provider-idv"))
		return
	}
	// A run keeps little memory and makes much garbage, so rare collections save time. There is no memory limit: beyond
	// one, as with a large report, the collector would run all the time.
	if os.Getenv("GOGC") == "" {
		debug.SetGCPercent(400)
	}
	disableUnusedLogs()
	var options []tf6server.ServeOpt
	if *debugger {
		options = append(options, tf6server.WithManagedDebug())
	}
	if err := tf6server.Serve(provider.Address, provider.NewServer(version.Number()), options...); err != nil {
		fmt.Fprintln(os.Stderr, "terraform-provider-idv:", err)
		os.Exit(1)
	}
}

// disableUnusedLogs disables the framework's log unless the environment asks for one. The framework writes traces that
// the CLI then drops, and both programs spend a third of a large plan on that.
func disableUnusedLogs() {
	for _, variable := range os.Environ() {
		name, value, _ := strings.Cut(variable, "=")
		if strings.HasPrefix(name, "TF_LOG") && name != "TF_LOG_PATH" && value != "" {
			return
		}
	}
	for _, logger := range []string{"TF_LOG_SDK", "TF_LOG_SDK_FRAMEWORK", "TF_LOG_SDK_PROTO", "TF_LOG_PROVIDER"} {
		_ = os.Setenv(logger, "OFF")
	}
}
