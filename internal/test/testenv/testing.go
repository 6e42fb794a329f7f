package testenv

import (
	"fmt"
	"log/slog"
	"net/http/httptest"
	"os"
	"testing"

	"github.com/mandate-io/idv/internal/sandbox"
	"github.com/mandate-io/idv/internal/sandbox/control"
)

// Suite is a *testing.M or a wrapper of one.
type Suite interface {
	// Run runs the tests and returns the exit code.
	Run() int
}

// Main is the TestMain of a package. It starts a control plane with the CRDs, sets *env, runs the tests and exits.
func Main(m Suite, env **Environment) {
	code, err := run(m, env)
	if err != nil {
		fmt.Fprintln(os.Stderr, "testenv:", err)
		code = 1
	}
	os.Exit(code)
}

func run(m Suite, env **Environment) (code int, err error) {
	e, err := New()
	if err != nil {
		return 0, err
	}
	defer func() {
		if closeErr := e.Close(); err == nil {
			err = closeErr
		}
	}()
	if err := e.StartControlPlane(); err != nil {
		return 0, err
	}
	if err := e.InstallCRDs(); err != nil {
		return 0, err
	}
	*env = e
	return m.Run(), nil
}

// SkipIfShort ends a test of `make test` that takes too long for `make check`, which runs with -short.
func SkipIfShort(tb testing.TB) {
	tb.Helper()
	if testing.Short() {
		tb.Skip("-short: starts an operator or another API server, or builds a program; make test runs it")
	}
}

// Sandbox serves a sandbox, which logs nothing, until the test ends. It returns its URL and a client to control it.
func Sandbox(tb testing.TB, options sandbox.Options) (string, *control.Client) {
	tb.Helper()
	options.Logger = slog.New(slog.DiscardHandler)
	service := sandbox.New(options)
	server := httptest.NewServer(service)
	tb.Cleanup(func() {
		service.Close()
		server.Close()
	})
	return server.URL, control.New(server.URL)
}

// Namespace creates a namespace for one test and returns its name.
func (e *Environment) Namespace(tb testing.TB) string {
	tb.Helper()
	namespace, err := e.CreateNamespace(tb.Context())
	if err != nil {
		tb.Fatalf("create a namespace: %v", err)
	}
	return namespace
}
