package main

import (
	"os"
	"os/exec"
	"slices"
	"strings"
	"testing"
)

// makeIn runs make as a user does, not as a part of the make that runs the tests. All images have one stamp.
func makeIn(t *testing.T, directory, target string, variables ...string) {
	t.Helper()
	if output, err := tryMakeIn(t, directory, target, variables...); err != nil {
		t.Fatalf("make %s: %v\n%s", target, err, output)
	}
}

func tryMakeIn(t *testing.T, directory, target string, variables ...string) (string, error) {
	t.Helper()
	command := exec.CommandContext(t.Context(), "make", append([]string{target}, variables...)...)
	for _, variable := range []string{"VERSION", "COMMIT", "SOURCE_DATE_EPOCH"} {
		command.Args = append(command.Args, variable+"="+stamp(t, variable))
	}
	command.Dir = directory
	command.Env = slices.DeleteFunc(os.Environ(), func(variable string) bool {
		name, _, _ := strings.Cut(variable, "=")
		return slices.Contains([]string{
			"MAKEFLAGS", "MAKEOVERRIDES", "MAKELEVEL", "MFLAGS", "IMG", "SANDBOX_IMG", "PLUGIN_IMG",
		}, name)
	})
	output, err := command.CombinedOutput()
	return string(output), err
}

func check(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}
