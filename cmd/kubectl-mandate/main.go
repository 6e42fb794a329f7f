// Command kubectl-mandate is a kubectl plugin: `kubectl mandate` shows Mandates and acts on them.
package main

import (
	"context"
	"os"
	"os/signal"
	"syscall"

	_ "golang.org/x/crypto/x509roots/fallback" // the image has no other certificates of authorities

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
