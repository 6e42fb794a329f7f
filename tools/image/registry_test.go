package main

import (
	"io"
	"log"
	"net/http/httptest"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-containerregistry/pkg/name"
	"github.com/google/go-containerregistry/pkg/registry"
	v1 "github.com/google/go-containerregistry/pkg/v1"
	"github.com/google/go-containerregistry/pkg/v1/remote"
	"github.com/google/go-containerregistry/pkg/v1/validate"
)

// What arrives at a registry is the image of the archive, with every platform.
func TestPush(t *testing.T) {
	server := httptest.NewServer(registry.New(registry.Logger(log.New(io.Discard, "", 0))))
	defer server.Close()
	reference := strings.TrimPrefix(server.URL, "http://") + "/team/idv-sandbox:v1"
	makeIn(t, root, "push", "SANDBOX_IMG="+reference)

	tag, err := name.NewTag(reference)
	check(t, err)
	pushed, err := remote.Index(tag)
	check(t, err)
	check(t, validate.Index(pushed))
	packed, err := read(archiveOf("idv-sandbox"), t.TempDir())
	check(t, err)
	if diff := cmp.Diff(digestOf(t, packed), digestOf(t, pushed)); diff != "" {
		t.Errorf("digest (-packed +pushed):\n%s", diff)
	}
	for architecture := range architectures {
		image, err := remote.Image(tag, remote.WithPlatform(v1.Platform{OS: "linux", Architecture: architecture}))
		check(t, err)
		onlyFile(t, image, "idv-sandbox")
	}
}

func TestPushErrors(t *testing.T) {
	output, err := tryMakeIn(t, root, "push")
	if err == nil || !strings.Contains(output, "IMG=registry/name:tag") {
		t.Errorf("make push without a name: %v, want an error that says how\n%s", err, output)
	}
	refused := httptest.NewServer(nil)
	refused.Close()
	for want, args := range map[string][]string{
		"docker login": {"push", archiveOf("idv-sandbox"), strings.TrimPrefix(refused.URL, "http://") + "/idv-sandbox:v1"},
		"absent.tar":   {"push", filepath.Join(t.TempDir(), "absent.tar"), "registry.example.com/idv-sandbox:v1"},
		"a:b:c":        {"push", archiveOf("idv-sandbox"), "a:b:c"},
		"or push":      {"pull"},
	} {
		if err := run(args); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("image %s: %v, want an error with %q", strings.Join(args, " "), err, want)
		}
	}
}

func digestOf(t *testing.T, index v1.ImageIndex) string {
	t.Helper()
	digest, err := index.Digest()
	check(t, err)
	return digest.String()
}
