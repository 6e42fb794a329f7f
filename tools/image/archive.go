package main

import (
	"archive/tar"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"time"

	"github.com/google/go-containerregistry/pkg/name"
	v1 "github.com/google/go-containerregistry/pkg/v1"
	"github.com/google/go-containerregistry/pkg/v1/empty"
	"github.com/google/go-containerregistry/pkg/v1/layout"
	"github.com/google/go-containerregistry/pkg/v1/mutate"
	"github.com/google/go-containerregistry/pkg/v1/tarball"
)

// write makes an archive that container engines load: an OCI layout, and a manifest.json for older Docker.
func write(archive string, tag name.Tag, index v1.ImageIndex, created time.Time) error {
	directory, err := os.MkdirTemp("", "image-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(directory) //nolint:errcheck // in the directory for temporary files
	_, err = layout.Write(directory, mutate.AppendManifests(empty.Index, mutate.IndexAddendum{
		Add: index,
		Descriptor: v1.Descriptor{Annotations: map[string]string{
			"io.containerd.image.name":          tag.Name(), // containerd and Docker read this one, Podman the other
			"org.opencontainers.image.ref.name": tag.Name(),
		}},
	}))
	if err != nil {
		return err
	}
	manifest, err := dockerManifest(tag, index)
	if err != nil {
		return err
	}
	if err := os.WriteFile(filepath.Join(directory, "manifest.json"), manifest, 0o600); err != nil {
		return err
	}
	return pack(directory, archive, created)
}

// dockerManifest is what Docker reads unless containerd stores its images. That Docker has no images of several
// platforms, so each gets a tag of its own, which ends with the architecture.
func dockerManifest(tag name.Tag, index v1.ImageIndex) ([]byte, error) {
	children, err := index.IndexManifest()
	if err != nil {
		return nil, err
	}
	blob := func(hash v1.Hash) string { return "blobs/" + hash.Algorithm + "/" + hash.Hex }
	var all tarball.Manifest
	for _, child := range children.Manifests {
		built, err := index.Image(child.Digest)
		if err != nil {
			return nil, err
		}
		manifest, err := built.Manifest()
		if err != nil {
			return nil, err
		}
		entry := tarball.Descriptor{
			Config: blob(manifest.Config.Digest), RepoTags: []string{tag.Name() + "-" + child.Platform.Architecture},
		}
		for _, layer := range manifest.Layers {
			entry.Layers = append(entry.Layers, blob(layer.Digest))
		}
		all = append(all, entry)
	}
	return json.Marshal(all)
}

// pack writes the same bytes for the same files. The archive appears complete or not at all.
func pack(directory, archive string, modified time.Time) error {
	var content bytes.Buffer
	files := tar.NewWriter(&content)
	tree := os.DirFS(directory)
	err := fs.WalkDir(tree, ".", func(name string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() {
			return err
		}
		file, err := fs.ReadFile(tree, name)
		if err != nil {
			return err
		}
		return add(files, name, 0o644, file, modified)
	})
	if err := errors.Join(err, files.Close()); err != nil {
		return err
	}
	if err := os.WriteFile(archive+".part", content.Bytes(), 0o644); err != nil { //nolint:gosec // for everybody
		return err
	}
	return os.Rename(archive+".part", archive)
}

func add(files *tar.Writer, name string, mode int64, content []byte, modified time.Time) error {
	err := files.WriteHeader(&tar.Header{
		Typeflag: tar.TypeReg, Name: name, Mode: mode, Size: int64(len(content)), ModTime: modified,
	})
	if err != nil {
		return err
	}
	_, err = files.Write(content)
	return err
}

// read unpacks an archive into a directory, where its image reads its parts from.
func read(archive, directory string) (v1.ImageIndex, error) {
	if err := unpack(archive, directory); err != nil {
		return nil, err
	}
	all, err := layout.ImageIndexFromPath(directory)
	if err != nil {
		return nil, err
	}
	manifest, err := all.IndexManifest()
	if err != nil {
		return nil, err
	}
	if len(manifest.Manifests) != 1 {
		return nil, fmt.Errorf("it has %d images, want one", len(manifest.Manifests))
	}
	return all.ImageIndex(manifest.Manifests[0].Digest)
}

func unpack(archive, directory string) error {
	content, err := os.ReadFile(archive)
	if err != nil {
		return err
	}
	root, err := os.OpenRoot(directory)
	if err != nil {
		return err
	}
	defer root.Close() //nolint:errcheck // it was only read
	files := tar.NewReader(bytes.NewReader(content))
	for {
		header, err := files.Next()
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return err
		}
		file, err := io.ReadAll(files)
		if err != nil {
			return err
		}
		if err := root.MkdirAll(path.Dir(header.Name), 0o750); err != nil {
			return err
		}
		if err := root.WriteFile(header.Name, file, header.FileInfo().Mode().Perm()); err != nil {
			return err
		}
	}
}
