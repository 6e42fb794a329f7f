package flux

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"crypto/sha256"
	"fmt"
	"maps"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// archives plays the part of the source-controller: it serves archives of the Git repository.
type archives struct {
	server *httptest.Server

	mu     sync.Mutex
	byPath map[string][]byte // in the URL
}

func newArchives(t *testing.T) *archives {
	t.Helper()
	a := &archives{byPath: map[string][]byte{}}
	a.server = httptest.NewServer(http.HandlerFunc(func(response http.ResponseWriter, request *http.Request) {
		a.mu.Lock()
		defer a.mu.Unlock()
		if archive, ok := a.byPath[request.URL.Path]; ok {
			_, _ = response.Write(archive)
			return
		}
		http.NotFound(response, request)
	}))
	t.Cleanup(a.server.Close)
	return a
}

// publish puts an archive of the files into the status of the GitRepository.
func (w *world) publish() {
	w.Helper()
	archive := archiveOf(w.T, w.Files)
	digest := fmt.Sprintf("sha256:%x", sha256.Sum256(archive))
	path := "/" + strings.TrimPrefix(digest, "sha256:") + ".tar.gz"
	w.archives.mu.Lock()
	w.archives.byPath[path] = archive
	w.archives.mu.Unlock()

	source := &unstructured.Unstructured{}
	source.SetGroupVersionKind(schema.FromAPIVersionAndKind("source.toolkit.fluxcd.io/v1", "GitRepository"))
	w.Check(w.Get(w.Context(), client.ObjectKey{Namespace: fluxNamespace, Name: "onboarding"}, source))
	w.revision = "main@" + digest
	now := time.Now().UTC().Format(time.RFC3339)
	source.Object["status"] = map[string]any{
		"observedGeneration": source.GetGeneration(),
		"artifact": map[string]any{
			"url": w.archives.server.URL + path, "path": strings.TrimPrefix(path, "/"), "digest": digest, "revision": w.revision,
			"size": int64(len(archive)), "lastUpdateTime": now,
		},
		"conditions": []any{map[string]any{
			"type": "Ready", "status": "True", "reason": "Succeeded", "message": "stored", "lastTransitionTime": now,
			"observedGeneration": source.GetGeneration(),
		}},
	}
	w.Check(w.Status().Update(w.Context(), source))
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
