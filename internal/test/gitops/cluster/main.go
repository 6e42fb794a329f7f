package cluster

import (
	"context"
	"fmt"
	"os"
	"testing"

	"github.com/mandate-io/idv/internal/test/testenv"
)

// Main is the TestMain of a package. It starts a control plane, to which prepare adds what the tests need.
func Main(m *testing.M, env **testenv.Environment, prepare func(context.Context) error) {
	testenv.Main(suite{m, prepare}, env)
}

type suite struct {
	*testing.M
	prepare func(context.Context) error
}

func (s suite) Run() int {
	if err := s.prepare(context.Background()); err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	return s.M.Run()
}
