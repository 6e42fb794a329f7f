package argocd

import (
	"bytes"
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"time"
)

// chartVersion is one that the Applications of the examples accept.
const chartVersion = "0.1.0"

// newRegistry serves the charts as ghcr.io/mandate-io/charts. It has what a client of a registry reads to pull one.
func newRegistry(w *world) http.Handler {
	w.Helper()
	registry := http.NewServeMux()
	registry.HandleFunc("GET /v2/{$}", func(http.ResponseWriter, *http.Request) {})
	for _, chart := range []string{"mandate-operator-crds", "mandate-operator"} {
		dir := w.TempDir()
		helm := exec.CommandContext(w.Context(), w.Tool("helm"), "package", "--version="+chartVersion,
			"--destination="+dir, filepath.Join(env.Root, "config", "chart", chart))
		if output, err := helm.CombinedOutput(); err != nil {
			w.Fatalf("helm package: %v\n%s", err, output)
		}
		archive, err := os.ReadFile(filepath.Join(dir, chart+"-"+chartVersion+".tgz"))
		w.Check(err)
		serveChart(registry, chart, archive)
	}
	return registry
}

func serveChart(registry *http.ServeMux, chart string, archive []byte) {
	const manifestType = "application/vnd.oci.image.manifest.v1+json"
	repository := "GET /v2/mandate-io/charts/" + chart
	serve := func(path, mediaType string, content []byte) {
		digest := digestOf(content)
		registry.HandleFunc(repository+path, func(w http.ResponseWriter, r *http.Request) {
			w.Header().Set("Content-Type", mediaType)
			w.Header().Set("Docker-Content-Digest", digest)
			http.ServeContent(w, r, "", time.Time{}, bytes.NewReader(content))
		})
	}
	blob := func(mediaType string, content []byte) map[string]any {
		serve("/blobs/"+digestOf(content), mediaType, content)
		return map[string]any{"mediaType": mediaType, "digest": digestOf(content), "size": len(content)}
	}
	config := fmt.Appendf(nil, `{"name":%q,"version":%q,"apiVersion":"v2"}`, chart, chartVersion)
	manifest, _ := json.Marshal(map[string]any{
		"schemaVersion": 2, "mediaType": manifestType,
		"config": blob("application/vnd.cncf.helm.config.v1+json", config),
		"layers": []any{blob("application/vnd.cncf.helm.chart.content.v1.tar+gzip", archive)},
	})
	serve("/manifests/"+chartVersion, manifestType, manifest)
	serve("/manifests/"+digestOf(manifest), manifestType, manifest)
	tags := fmt.Appendf(nil, `{"name":"mandate-io/charts/%s","tags":[%q]}`, chart, chartVersion)
	serve("/tags/list", "application/json", tags)
}

func digestOf(content []byte) string { return fmt.Sprintf("sha256:%x", sha256.Sum256(content)) }
