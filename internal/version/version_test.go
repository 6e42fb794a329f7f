package version

import (
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"runtime/debug"
	"strings"
	"testing"
)

func TestRead(t *testing.T) {
	recorded := func(version, revision string) *debug.BuildInfo {
		info := &debug.BuildInfo{Main: debug.Module{Version: version}}
		if revision != "" {
			info.Settings = []debug.BuildSetting{{Key: "vcs", Value: "git"}, {Key: "vcs.revision", Value: revision}}
		}
		return info
	}
	for name, tc := range map[string]struct {
		version, commit string
		info            *debug.BuildInfo
		want            build
	}{
		"a release":              {"v1.2.3", "abc", recorded("(devel)", ""), build{"1.2.3", "abc"}},
		"a number without v":     {"1.2.3-rc.1", "abc", recorded("(devel)", ""), build{"1.2.3-rc.1", "abc"}},
		"the linker comes first": {"v1.2.3", "abc", recorded("v9.9.9", "def"), build{"1.2.3", "abc"}},
		"go install":             {"", "", recorded("v1.2.3", ""), build{"1.2.3", "unknown"}},
		"a clone":                {"", "", recorded("(devel)", "def"), build{"dev", "def"}},
		"a version is no word":   {"vanilla", "", recorded("", ""), build{"vanilla", "unknown"}},
		"no information":         {"", "", nil, build{"dev", "unknown"}},
	} {
		t.Run(name, func(t *testing.T) {
			oldVersion, oldCommit := version, commit
			t.Cleanup(func() { version, commit = oldVersion, oldCommit })
			version, commit = tc.version, tc.commit
			if got := read(func() (*debug.BuildInfo, bool) { return tc.info, tc.info != nil }); got != tc.want {
				t.Errorf("got %+v, want %+v", got, tc.want)
			}
		})
	}
}

// Every program that users install answers --version with what its build was told.
func TestProgramsPrintTheirVersion(t *testing.T) {
	if testing.Short() {
		t.Skip("links every program")
	}
	const root = "../.."
	directories, err := filepath.Glob(root + "/cmd/*")
	if err != nil || len(directories) < 3 {
		t.Fatalf("programs: %q, %v", directories, err)
	}
	out := t.TempDir()
	const variables = "github.com/mandate-io/idv/internal/version."
	run(t, root, "go", "build", "-buildvcs=false", "-o", out, "-ldflags",
		"-s -w -X "+variables+"version=v4.5.6-test -X "+variables+"commit=0123abc", "./cmd/...")
	for _, directory := range directories {
		program := filepath.Base(directory)
		want := regexp.MustCompile(`(?m)^` + program + ` 4\.5\.6-test \(commit 0123abc, ` +
			regexp.QuoteMeta(runtime.Version()) + `, ` + runtime.GOOS + `/` + runtime.GOARCH + `\)$`)
		if got := run(t, root, filepath.Join(out, program), "--version"); !want.MatchString(got) {
			t.Errorf("%s --version: %q, want a line like %s", program, got, want)
		}
	}
}

func run(t *testing.T, directory string, command ...string) string {
	t.Helper()
	c := exec.CommandContext(t.Context(), command[0], command[1:]...)
	c.Dir = directory
	output, err := c.CombinedOutput()
	if err != nil {
		t.Fatalf("%s: %v\n%s", strings.Join(command, " "), err, output)
	}
	return string(output)
}
