// Package version says which build of this module a program is.
package version

import (
	"cmp"
	"fmt"
	"regexp"
	"runtime"
	"runtime/debug"
	"strings"
)

// The build sets them: -ldflags "-X github.com/mandate-io/idv/internal/version.version=v1.2.3".
var version, commit string

// Number is the version without a leading v, such as 1.2.3. A build of a working tree without tags is "dev".
func Number() string { return read(debug.ReadBuildInfo).number }

// Line is what --version of a program prints: its name, the version, the commit, and what built it for which platform.
func Line(program string) string {
	b := read(debug.ReadBuildInfo)
	return fmt.Sprintf("%s %s (commit %s, %s, %s/%s)",
		program, b.number, b.commit, runtime.Version(), runtime.GOOS, runtime.GOARCH)
}

type build struct{ number, commit string }

// semantic matches what follows the v of a version of Go modules, and of no other word.
var semantic = regexp.MustCompile(`^v(\d+\.\d+\.\d+.*)$`)

// read takes what the linker set, else what the go command recorded: the version of go install MODULE@VERSION, or the
// commit of a clone.
func read(buildInfo func() (*debug.BuildInfo, bool)) build {
	b := build{version, commit}
	if info, ok := buildInfo(); ok {
		b.number = cmp.Or(b.number, strings.Trim(info.Main.Version, "()"))
		for _, setting := range info.Settings {
			if setting.Key == "vcs.revision" {
				b.commit = cmp.Or(b.commit, setting.Value)
			}
		}
	}
	if b.number == "devel" {
		b.number = ""
	}
	return build{semantic.ReplaceAllString(cmp.Or(b.number, "dev"), "$1"), cmp.Or(b.commit, "unknown")}
}
