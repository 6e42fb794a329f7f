package plugin

import (
	"archive/zip"
	"bytes"
	"context"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
)

// checkedOut is a revision of a Git repository, in a directory of its own.
type checkedOut struct {
	dir  string // to remove
	path string // what was asked for, in it
}

// checkOut reads the repository of a path at a revision. It changes nothing in it.
func checkOut(ctx context.Context, path, revision string) (tree checkedOut, err error) {
	absolute, err := filepath.Abs(path)
	if err != nil {
		return tree, err
	}
	within := nearestDirectory(absolute)
	place, err := git(ctx, within, "rev-parse", "--show-toplevel", "--show-prefix")
	if err != nil {
		return tree, err
	}
	root, prefix, _ := strings.Cut(strings.TrimSpace(string(place)), "\n")
	commit, err := git(ctx, within, "rev-parse", "--verify", "--quiet", "--end-of-options", revision+"^{commit}")
	if err != nil {
		return tree, fmt.Errorf("the Git revision %q does not exist here; a shallow clone has few", revision)
	}
	archive, err := git(ctx, root, "archive", "--format=zip", strings.TrimSpace(string(commit)))
	if err != nil {
		return tree, err
	}
	files, err := zip.NewReader(bytes.NewReader(archive), int64(len(archive)))
	if err != nil {
		return tree, err
	}
	files.File = slices.DeleteFunc(files.File, func(file *zip.File) bool {
		return file.Mode()&fs.ModeSymlink != 0 // it can lead anywhere
	})
	if tree.dir, err = os.MkdirTemp("", "kubectl-mandate-"); err != nil {
		return tree, err
	}
	tree.path = filepath.Join(tree.dir, prefix, strings.TrimPrefix(absolute, within))
	return tree, os.CopyFS(tree.dir, files)
}

// nearestDirectory is a path, or the next directory above it that exists: a revision can have what the files have not.
func nearestDirectory(path string) string {
	for {
		if info, err := os.Stat(path); err == nil && info.IsDir() || path == filepath.Dir(path) {
			return path
		}
		path = filepath.Dir(path)
	}
}

func git(ctx context.Context, dir string, arguments ...string) ([]byte, error) {
	//nolint:gosec // a revision is resolved to a commit first, and is no option
	command := exec.CommandContext(ctx, "git", append([]string{"-C", dir}, arguments...)...)
	var said bytes.Buffer
	command.Stderr = &said
	output, err := command.Output()
	if err != nil {
		return nil, fmt.Errorf("git %s: %w\n%s", arguments[0], err, strings.TrimSpace(said.String()))
	}
	return output, nil
}
