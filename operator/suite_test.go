package operator_test

import (
	"context"
	"flag"
	"fmt"
	"os"
	"slices"
	"testing"
)

// suite runs the tests and then holds what all of them together must show: that the operator has no right that it does not
// use, and that every reason of a condition is explained, and every one that is explained comes about.
type suite struct{ *testing.M }

func (s suite) Run() int {
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	seen, err := watchConditions(ctx)
	if err != nil {
		fmt.Fprintln(os.Stderr, "watching conditions:", err)
		return 1
	}
	code := s.M.Run()
	if code != 0 || isFiltered() {
		return code
	}
	for _, compare := range []func() ([]string, error){comparePermissions, seen.compare} {
		problems, err := compare()
		if err != nil {
			problems = append(problems, err.Error())
		}
		for _, problem := range problems {
			fmt.Fprintln(os.Stderr, problem)
			code = 1
		}
	}
	return code
}

// isFiltered tells that only some of the tests ran, as with -run: then what did not happen says nothing.
func isFiltered() bool {
	return slices.ContainsFunc([]string{"test.run", "test.skip", "test.list"}, func(name string) bool {
		return flag.Lookup(name).Value.String() != ""
	})
}
