// Command idv-sandbox serves a stand-in of the identity verification service, to
// try the provider and the operator, and for pipelines. See --help.
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
	_ "golang.org/x/crypto/x509roots/fallback" // the image has no other certificates of authorities

	"github.com/mandate-io/idv/internal/sandbox"
	"github.com/mandate-io/idv/internal/version"
)

// shutdownTimeout limits how long requests take to complete after a signal.
const shutdownTimeout = 5 * time.Second

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	err := run(ctx, os.Args[1:], os.Stdout, os.Stderr)
	stop()
	if err != nil && !errors.Is(err, pflag.ErrHelp) {
		fmt.Fprintln(os.Stderr, "idv-sandbox:", err)
		os.Exit(1)
	}
}

// run serves until ctx is done.
func run(ctx context.Context, args []string, stdout, stderr io.Writer) error {
	settings, err := parseSettings(args, stdout)
	if err != nil {
		return err
	}
	if settings.showVersion {
		_, err := fmt.Fprintln(stdout, version.Line("idv-sandbox"))
		return err
	}
	settings.process.Logger = slog.New(slog.NewJSONHandler(stderr, nil))
	service, err := sandbox.Open(settings.config, settings.process)
	if err != nil {
		return fmt.Errorf("--config: %w", err)
	}
	defer service.Close()
	listener, err := new(net.ListenConfig).Listen(ctx, "tcp", settings.listen)
	if err != nil {
		return fmt.Errorf("--listen: %w; port 0 selects a free port", err)
	}
	if err := announce(settings, listener.Addr().String(), stdout); err != nil {
		return errors.Join(err, listener.Close())
	}
	server := &http.Server{
		Handler:           service,
		ReadHeaderTimeout: 10 * time.Second,
		ErrorLog:          slog.NewLogLogger(settings.process.Logger.Handler(), slog.LevelError),
	}
	served := make(chan error, 1)
	go func() { served <- settings.tls.serve(server, listener) }()
	select {
	case err := <-served:
		return err
	case <-ctx.Done():
	}
	service.Close()
	shutdown, cancel := context.WithTimeout(context.WithoutCancel(ctx), shutdownTimeout)
	defer cancel()
	if server.Shutdown(shutdown) != nil {
		return server.Close()
	}
	return nil
}

// announce prints the address and writes the port file. The rename makes the file
// appear with its whole content.
func announce(s settings, address string, stdout io.Writer) error {
	if portFile := s.portFile; portFile != "" {
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
	// One write, so that a reader of only the first line does not block a second one.
	_, err := fmt.Fprintf(stdout, "listening on %s://%s\n"+
		"Open this address in a browser to see the mailbox and to play the individuals. Press Ctrl-C to stop.\n",
		s.tls.scheme(), address)
	return err
}
