package operator_test

import (
	"flag"
	"fmt"
	"os"
	"slices"
	"testing"
)

// suite runs the tests, and then checks what only all of them together show: the operator uses every permission that it
// has, and the documented reasons of conditions are those that occur.
type suite struct{ *testing.M }

func (s suite) Run() int {
	code := s.M.Run()
	if code != 0 || isFiltered() {
		return code
	}
	for _, compare := range []func() ([]string, error){comparePermissions, compareReasons} {
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

// isFiltered reports whether only some tests run, as with -run or -short. Then what did not happen proves nothing.
func isFiltered() bool {
	filters := []string{"test.run", "test.skip", "test.list"}
	return testing.Short() || slices.ContainsFunc(filters, func(name string) bool {
		return flag.Lookup(name).Value.String() != ""
	})
}
