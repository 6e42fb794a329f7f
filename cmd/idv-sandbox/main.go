// Command idv-sandbox serves a stand-in of the identity verification service,
// for trying the provider and the operator, and for pipelines. See --help.
package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"os"
	"os/signal"
	"syscall"
	"time"

	"github.com/spf13/pflag"

	"github.com/mandate-io/idv/internal/sandbox"
)

// shutdownGrace is how long requests may take to end after a signal.
const shutdownGrace = 5 * time.Second

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	err := run(ctx, os.Args[1:], os.Stdout, os.Stderr)
	stop()
	if err != nil && !errors.Is(err, pflag.ErrHelp) {
		fmt.Fprintln(os.Stderr, "idv-sandbox:", err)
		os.Exit(1)
	}
}

// run serves until ctx ends.
func run(ctx context.Context, args []string, stdout, stderr io.Writer) error {
	settings, err := parseSettings(args, stdout)
	if err != nil {
		return err
	}
	listener, err := new(net.ListenConfig).Listen(ctx, "tcp", settings.listen)
	if err != nil {
		return fmt.Errorf("--listen: %w; port 0 takes a free one", err)
	}
	settings.options.Logger = slog.New(slog.NewJSONHandler(stderr, nil))
	service := sandbox.New(settings.options)
	defer service.Close()
	if err := announce(listener.Addr().String(), settings.portFile, stdout); err != nil {
		return errors.Join(err, listener.Close())
	}
	server := &http.Server{
		Handler:           service,
		ReadHeaderTimeout: 10 * time.Second,
		ErrorLog:          slog.NewLogLogger(settings.options.Logger.Handler(), slog.LevelError),
	}
	served := make(chan error, 1)
	go func() { served <- server.Serve(listener) }()
	select {
	case err := <-served:
		return err
	case <-ctx.Done():
	}
	service.Close()
	grace, cancel := context.WithTimeout(context.WithoutCancel(ctx), shutdownGrace)
	defer cancel()
	if server.Shutdown(grace) != nil {
		return server.Close()
	}
	return nil
}

// announce tells where the sandbox listens. The file is renamed into place, so
// that whoever waits for it never reads half of it.
func announce(address, portFile string, stdout io.Writer) error {
	if portFile != "" {
		_, port, err := net.SplitHostPort(address)
		if err != nil {
			return err
		}
		if err := os.WriteFile(portFile+".tmp", []byte(port+"\n"), 0o600); err != nil {
			return err
		}
		if err := os.Rename(portFile+".tmp", portFile); err != nil {
			return err
		}
	}
	// One write: whoever reads no more than the first line must not hold it up.
	_, err := fmt.Fprintf(stdout, "listening on http://%s\n"+
		"Open it in a browser to read the mailbox and to play the individuals. Ctrl-C ends it.\n", address)
	return err
}
