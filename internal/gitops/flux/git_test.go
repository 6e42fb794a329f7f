package flux

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"crypto/sha256"
	"fmt"
	"io/fs"
	"maps"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// repository is the Git repository of the examples. Its files may be edited. publish plays the part of the
// source-controller: it puts an archive of them into the status of the GitRepository.
type repository struct {
	files  map[string]string
	server *httptest.Server

	mu       sync.Mutex
	archives map[string][]byte // by path in the URL
}

func newRepository(t *testing.T, root string) *repository {
	t.Helper()
	r := &repository{files: map[string]string{}, archives: map[string][]byte{}}
	tree := os.DirFS(filepath.Join(root, "examples", "gitops", "repository"))
	err := fs.WalkDir(tree, ".", func(name string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() {
			return err
		}
		content, err := fs.ReadFile(tree, name)
		r.files[name] = string(content)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	r.server = httptest.NewServer(http.HandlerFunc(func(response http.ResponseWriter, request *http.Request) {
		r.mu.Lock()
		defer r.mu.Unlock()
		if archive, ok := r.archives[request.URL.Path]; ok {
			_, _ = response.Write(archive)
			return
		}
		http.NotFound(response, request)
	}))
	t.Cleanup(r.server.Close)
	return r
}

// publish makes the files of the repository the latest commit.
func (w *world) publish() {
	w.Helper()
	archive := archiveOf(w.T, w.git.files)
	digest := fmt.Sprintf("sha256:%x", sha256.Sum256(archive))
	path := "/" + strings.TrimPrefix(digest, "sha256:") + ".tar.gz"
	w.git.mu.Lock()
	w.git.archives[path] = archive
	w.git.mu.Unlock()

	source := &unstructured.Unstructured{}
	source.SetGroupVersionKind(schema.FromAPIVersionAndKind("source.toolkit.fluxcd.io/v1", "GitRepository"))
	w.check(w.Get(w.Context(), client.ObjectKey{Namespace: fluxNamespace, Name: "onboarding"}, source))
	w.revision = "main@" + digest
	now := time.Now().UTC().Format(time.RFC3339)
	source.Object["status"] = map[string]any{
		"observedGeneration": source.GetGeneration(),
		"artifact": map[string]any{
			"url": w.git.server.URL + path, "path": strings.TrimPrefix(path, "/"), "digest": digest, "revision": w.revision,
			"size": int64(len(archive)), "lastUpdateTime": now,
		},
		"conditions": []any{map[string]any{
			"type": "Ready", "status": "True", "reason": "Succeeded", "message": "stored", "lastTransitionTime": now,
			"observedGeneration": source.GetGeneration(),
		}},
	}
	w.check(w.Status().Update(w.Context(), source))
}

func archiveOf(t *testing.T, files map[string]string) []byte {
	t.Helper()
	var buffer bytes.Buffer
	compressed := gzip.NewWriter(&buffer)
	archive := tar.NewWriter(compressed)
	for _, name := range slices.Sorted(maps.Keys(files)) {
		header := &tar.Header{Name: name, Mode: 0o644, Size: int64(len(files[name])), Typeflag: tar.TypeReg}
		if err := archive.WriteHeader(header); err != nil {
			t.Fatal(err)
		}
		if _, err := archive.Write([]byte(files[name])); err != nil {
			t.Fatal(err)
		}
	}
	if err := archive.Close(); err != nil {
		t.Fatal(err)
	}
	if err := compressed.Close(); err != nil {
		t.Fatal(err)
	}
	return buffer.Bytes()
}
