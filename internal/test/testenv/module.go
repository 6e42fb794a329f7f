package testenv

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"runtime/debug"
	"slices"
	"strconv"
	"sync"
)

const modulePath = "github.com/mandate-io/idv"

// moduleRoot walks up from the working directory, which for a test is its package's, to this module's go.mod.
func moduleRoot() (string, error) {
	start, err := os.Getwd()
	if err != nil {
		return "", err
	}
	for dir := start; ; dir = filepath.Dir(dir) {
		content, err := os.ReadFile(filepath.Join(dir, "go.mod"))
		if err == nil && bytes.HasPrefix(content, []byte("module "+modulePath+"\n")) {
			return dir, nil
		}
		if err != nil && !errors.Is(err, os.ErrNotExist) {
			return "", err
		}
		if dir == filepath.Dir(dir) {
			return "", fmt.Errorf("%s is not inside the module %s; run this from the repository", start, modulePath)
		}
	}
}

// Build builds a main package of this module, for example ./cmd/mandate-operator, and returns the path of the binary.
// It builds each package once. If the test has the race detector, so has the binary, and a data race is an exit code.
func (e *Environment) Build(pkg string) (string, error) {
	return e.buildOnce(pkg, "bin", RaceDetector())
}

// BuildPlain is Build without the race detector, which takes several times the memory of the program.
func (e *Environment) BuildPlain(pkg string) (string, error) { return e.buildOnce(pkg, "plain", false) }

// Programs is the variable of the environment with a directory of programs that were built before, which Build takes.
const Programs = "IDV_PROGRAMS"

func (e *Environment) buildOnce(pkg, directory string, race bool) (string, error) {
	if binary := filepath.Join(os.Getenv(Programs), path.Base(pkg)); filepath.IsAbs(binary) && !race {
		if _, err := os.Stat(binary); err == nil {
			return binary, nil
		}
	}
	binary := filepath.Join(e.Dir, directory, path.Base(pkg))
	e.mu.Lock()
	build, ok := e.builds[binary]
	if !ok {
		build = sync.OnceValues(func() (string, error) { return binary, e.build(pkg, binary, race) })
		e.builds[binary] = build
	}
	e.mu.Unlock()
	return build()
}

func (e *Environment) build(pkg, binary string, withRace bool) error {
	race := "-race=" + strconv.FormatBool(withRace)
	cmd := exec.CommandContext(context.Background(), //nolint:gosec // the package is in this module
		"go", "build", "-buildvcs=false", "-ldflags=-w", race, "-o", binary, pkg)
	cmd.Dir = e.Root
	if output, err := cmd.CombinedOutput(); err != nil {
		return fmt.Errorf("go build %s: %w\n%s", pkg, err, output)
	}
	return nil
}

// RaceDetector is true if this process has the race detector.
func RaceDetector() bool {
	info, _ := debug.ReadBuildInfo()
	return info != nil && slices.Contains(info.Settings, debug.BuildSetting{Key: "-race", Value: "true"})
}
