package testenv

import (
	"fmt"
	"os"
	"testing"
	"time"
)

// Suite is what a TestMain is given, a *testing.M, or one that does something more around it.
type Suite interface {
	// Run gives the exit code.
	Run() int
}

// Main is a package's TestMain: it runs the tests with one control plane that has the CRDs, which it puts into *env, and
// exits.
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

// Namespace creates a namespace for one test and returns its name.
func (e *Environment) Namespace(tb testing.TB) string {
	tb.Helper()
	namespace, err := e.CreateNamespace(tb.Context())
	if err != nil {
		tb.Fatalf("creating a namespace: %v", err)
	}
	return namespace
}

// Eventually asks again and again whether something is done, and ends the test with the last answer when its patience is
// over.
func Eventually(tb testing.TB, patience time.Duration, done func() (ok bool, state string)) {
	tb.Helper()
	over := time.After(patience)
	ticker := time.NewTicker(50 * time.Millisecond)
	defer ticker.Stop()
	for {
		ok, state := done()
		if ok {
			return
		}
		select {
		case <-over:
			tb.Fatalf("after %s: %s", patience, state)
		case <-tb.Context().Done():
			tb.Fatalf("the test ends: %s", state)
		case <-ticker.C:
		}
	}
}
