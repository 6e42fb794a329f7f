package main

import (
	"archive/tar"
	"bytes"
	"debug/buildinfo"
	"debug/elf"
	"errors"
	"io"
	"os"
	"path/filepath"
	"runtime/debug"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	v1 "github.com/google/go-containerregistry/pkg/v1"
)

const root = "../.."

var (
	programs      = []string{"mandate-operator", "idv-sandbox", "kubectl-mandate"}
	architectures = map[string]elf.Machine{"amd64": elf.EM_X86_64, "arm64": elf.EM_AARCH64}
)

func archiveOf(program string) string { return filepath.Join(root, "dist", "images", program+".tar") }

// stamp is what the Makefile's variable was when it made the images.
func stamp(t *testing.T, variable string) string {
	t.Helper()
	value := os.Getenv(variable)
	if value == "" {
		t.Fatalf("the environment has no %s: run this test with make test-image", variable)
	}
	return value
}

func TestImages(t *testing.T) {
	for _, program := range programs {
		index, err := read(archiveOf(program), t.TempDir())
		check(t, err)
		manifest, err := index.IndexManifest()
		check(t, err)
		var found []string
		for _, child := range manifest.Manifests {
			found = append(found, child.Platform.String())
			t.Run(program+"/"+child.Platform.String(), func(t *testing.T) {
				image, err := index.Image(child.Digest)
				check(t, err)
				config, err := image.ConfigFile()
				check(t, err)
				checkConfig(t, program, child.Platform.Architecture, config)
				checkBinary(t, child.Platform.Architecture, onlyFile(t, image, program))
			})
		}
		slices.Sort(found)
		if diff := cmp.Diff([]string{"linux/amd64", "linux/arm64"}, found); diff != "" {
			t.Errorf("%s: platforms (-want +got):\n%s", program, diff)
		}
		if got := manifest.Annotations["org.opencontainers.image.version"]; got != stamp(t, "VERSION") {
			t.Errorf("%s: the index says version %q", program, got)
		}
	}
}

func checkConfig(t *testing.T, program, architecture string, config *v1.ConfigFile) {
	t.Helper()
	if config.OS != "linux" || config.Architecture != architecture {
		t.Errorf("the configuration says %s/%s", config.OS, config.Architecture)
	}
	c := config.Config
	if c.User != "65532:65532" || c.WorkingDir != "/" || len(c.Env) > 0 || len(c.Cmd) > 0 {
		t.Errorf("user %q, directory %q, environment %q, command %q", c.User, c.WorkingDir, c.Env, c.Cmd)
	}
	if diff := cmp.Diff([]string{"/" + program}, c.Entrypoint); diff != "" {
		t.Errorf("entrypoint (-want +got):\n%s", diff)
	}
	for label, want := range map[string]string{
		"title": program, "version": stamp(t, "VERSION"), "revision": stamp(t, "COMMIT"),
		"licenses": "Apache-2.0", "source": "https://github.com/mandate-io/idv",
	} {
		if got := c.Labels["org.opencontainers.image."+label]; got != want {
			t.Errorf("label %s is %q, want %q", label, got, want)
		}
	}
	for _, label := range []string{"created", "description"} {
		if c.Labels["org.opencontainers.image."+label] == "" {
			t.Errorf("no label %s", label)
		}
	}
}

// onlyFile is the content of the image: one program of root's, no shell, and no file that the program could change.
func onlyFile(t *testing.T, image v1.Image, program string) []byte {
	t.Helper()
	layers, err := image.Layers()
	check(t, err)
	var content []byte
	files := 0
	for _, layer := range layers {
		unpacked, err := layer.Uncompressed()
		check(t, err)
		t.Cleanup(func() { unpacked.Close() })
		for reader := tar.NewReader(unpacked); ; files++ {
			header, err := reader.Next()
			if errors.Is(err, io.EOF) {
				break
			}
			check(t, err)
			if header.Name != program || header.Typeflag != tar.TypeReg || header.Mode != 0o755 || header.Uid+header.Gid != 0 {
				t.Errorf("the image holds %+v", header)
			}
			content, err = io.ReadAll(reader)
			check(t, err)
		}
	}
	if files != 1 {
		t.Fatalf("the image has %d files, want %s alone", files, program)
	}
	return content
}

func checkBinary(t *testing.T, architecture string, binary []byte) {
	t.Helper()
	file, err := elf.NewFile(bytes.NewReader(binary))
	check(t, err)
	if file.Machine != architectures[architecture] {
		t.Errorf("it is a program for %s", file.Machine)
	}
	libraries, err := file.ImportedLibraries()
	if err != nil || len(libraries) > 0 {
		t.Errorf("it needs the libraries %q (%v)", libraries, err)
	}
	for _, segment := range file.Progs {
		if segment.Type == elf.PT_INTERP {
			t.Error("it needs a dynamic linker")
		}
	}
	info, err := buildinfo.Read(bytes.NewReader(binary))
	check(t, err)
	const roots = "golang.org/x/crypto/x509roots/fallback"
	if !slices.ContainsFunc(info.Deps, func(m *debug.Module) bool { return m.Path == roots }) {
		t.Errorf("it lacks %s, so that it trusts nobody where there are no files", roots)
	}
	for _, authority := range []string{"ISRG Root X1", "DigiCert Global Root G2", "GlobalSign Root R46"} {
		if !bytes.Contains(binary, []byte(authority)) {
			t.Errorf("it lacks the certificate of %s", authority)
		}
	}
	tree, err := filepath.Abs(root)
	check(t, err)
	if bytes.Contains(binary, []byte(tree+"/")) {
		t.Error("it holds the path of the tree that it was built in")
	}
}

// The second build has another path, no repository and the same commit.
func TestReproducible(t *testing.T) {
	tree := t.TempDir()
	copyTree(t, tree)
	makeIn(t, tree, "image")
	for _, program := range programs {
		first, err := os.ReadFile(archiveOf(program))
		check(t, err)
		second, err := os.ReadFile(filepath.Join(tree, "dist", "images", program+".tar"))
		check(t, err)
		if !bytes.Equal(first, second) {
			t.Errorf("%s.tar: two builds of one commit differ: %s, %s", program, digest(t, first), digest(t, second))
		}
	}
}

func digest(t *testing.T, archive []byte) string {
	t.Helper()
	hash, _, err := v1.SHA256(bytes.NewReader(archive))
	check(t, err)
	return hash.String()
}

// copyTree leaves out what Git ignores and what it keeps.
func copyTree(t *testing.T, to string) {
	t.Helper()
	entries, err := os.ReadDir(root)
	check(t, err)
	for _, entry := range entries {
		name := entry.Name()
		switch {
		case strings.HasPrefix(name, ".") || name == "bin" || name == "dist":
		case entry.IsDir():
			check(t, os.CopyFS(filepath.Join(to, name), os.DirFS(filepath.Join(root, name))))
		default:
			content, err := os.ReadFile(filepath.Join(root, name))
			check(t, err)
			check(t, os.WriteFile(filepath.Join(to, name), content, 0o600))
		}
	}
}
