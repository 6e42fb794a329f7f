package main

import (
	"archive/tar"
	"bytes"
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"os"
	"runtime"
)

type m = map[string]any

// writeImage writes an image of one program as an archive that containerd imports.
func writeImage(path, reference, name string, program []byte) error {
	var layer bytes.Buffer
	files := tar.NewWriter(&layer)
	if err := add(files, name, 0o755, program); err != nil {
		return err
	}
	if err := files.Close(); err != nil {
		return err
	}
	blobs := map[string][]byte{}
	blob := func(mediaType string, content []byte) m {
		digest := fmt.Sprintf("%x", sha256.Sum256(content))
		blobs[digest] = content
		return m{"mediaType": mediaType, "digest": "sha256:" + digest, "size": len(content)}
	}
	encode := func(v any) []byte {
		content, err := json.Marshal(v)
		if err != nil {
			panic(err)
		}
		return content
	}
	const oci = "application/vnd.oci.image."
	layerOf := blob(oci+"layer.v1.tar", layer.Bytes())
	config := blob(oci+"config.v1+json", encode(m{
		"architecture": runtime.GOARCH, "os": "linux",
		"config": m{"User": "65532:65532", "Entrypoint": []string{"/" + name}, "WorkingDir": "/"},
		"rootfs": m{"type": "layers", "diff_ids": []any{layerOf["digest"]}},
	}))
	manifest := blob(oci+"manifest.v1+json", encode(m{
		"schemaVersion": 2, "mediaType": oci + "manifest.v1+json", "config": config, "layers": []any{layerOf},
	}))
	manifest["annotations"] = m{"io.containerd.image.name": reference}
	var archive bytes.Buffer
	layout := tar.NewWriter(&archive)
	_ = add(layout, "oci-layout", 0o644, []byte(`{"imageLayoutVersion":"1.0.0"}`))
	_ = add(layout, "index.json", 0o644, encode(m{
		"schemaVersion": 2, "mediaType": oci + "index.v1+json", "manifests": []any{manifest},
	}))
	for digest, content := range blobs {
		_ = add(layout, "blobs/sha256/"+digest, 0o644, content)
	}
	_ = layout.Close()
	return os.WriteFile(path, archive.Bytes(), 0o600)
}

func add(to *tar.Writer, name string, mode int64, content []byte) error {
	if err := to.WriteHeader(&tar.Header{Typeflag: tar.TypeReg, Name: name, Mode: mode, Size: int64(len(content))}); err != nil {
		return err
	}
	_, err := to.Write(content)
	return err
}
