// Command kubectl-mandate is a kubectl plugin: `kubectl mandate` shows Mandates and acts on them.
package main

import (
	"context"
	"os"
	"os/signal"
	"syscall"

	"github.com/mandate-io/idv/internal/client"
	"github.com/mandate-io/idv/internal/version"
	"github.com/mandate-io/idv/plugin"
)

func main() {
	client.RedactStandardLog()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	code := plugin.Run(ctx, plugin.StandardStreams(), version.Line("kubectl-mandate"), os.Args[1:])
	stop()
	os.Exit(code)
}
