package main

import (
	"archive/tar"
	"bytes"
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"path/filepath"
	"time"

	v1 "github.com/google/go-containerregistry/pkg/v1"
	"github.com/google/go-containerregistry/pkg/v1/empty"
	"github.com/google/go-containerregistry/pkg/v1/mutate"
	"github.com/google/go-containerregistry/pkg/v1/tarball"
	"github.com/google/go-containerregistry/pkg/v1/types"
)

// nobody is the user and the group of distroless images. With the user alone, a kubelet runs the group root.
const nobody = "65532:65532"

// An image has one layer, and that has one file.
type image struct {
	platform v1.Platform
	binary   string
	labels   map[string]string
	created  time.Time
}

func indexOf(images []image) (v1.ImageIndex, error) {
	if len(images) == 0 {
		return nil, errors.New("no PLATFORM=BINARY, for example linux/amd64=bin/mandate-operator")
	}
	index := mutate.IndexMediaType(empty.Index, types.OCIImageIndex)
	for i := range images {
		built, err := images[i].build()
		if err != nil {
			return nil, fmt.Errorf("%s: %w", images[i].platform.String(), err)
		}
		index = mutate.AppendManifests(index, mutate.IndexAddendum{
			Add: built, Descriptor: v1.Descriptor{Platform: &images[i].platform},
		})
	}
	// Registries show the annotations of an index, and container engines the labels of an image.
	annotated, ok := mutate.Annotations(index, images[0].annotations()).(v1.ImageIndex)
	if !ok {
		return nil, errors.New("the library does not annotate indexes")
	}
	return annotated, nil
}

func (i *image) annotations() map[string]string {
	annotations := maps.Clone(i.labels)
	annotations["org.opencontainers.image.created"] = i.created.Format(time.RFC3339)
	return annotations
}

func (i *image) build() (v1.Image, error) {
	content, err := i.layer()
	if err != nil {
		return nil, err
	}
	layer, err := tarball.LayerFromOpener(func() (io.ReadCloser, error) {
		return io.NopCloser(bytes.NewReader(content)), nil
	}, tarball.WithMediaType(types.OCILayer))
	if err != nil {
		return nil, err
	}
	base := mutate.ConfigMediaType(mutate.MediaType(empty.Image, types.OCIManifestSchema1), types.OCIConfigJSON)
	built, err := mutate.Append(base, mutate.Addendum{Layer: layer, History: v1.History{
		Created: v1.Time{Time: i.created}, CreatedBy: "make image",
	}})
	if err != nil {
		return nil, err
	}
	config, err := built.ConfigFile()
	if err != nil {
		return nil, err
	}
	config = config.DeepCopy()
	config.OS, config.Architecture = i.platform.OS, i.platform.Architecture
	config.Created = v1.Time{Time: i.created}
	config.Config = v1.Config{
		User: nobody, WorkingDir: "/", Entrypoint: []string{"/" + filepath.Base(i.binary)}, Labels: i.annotations(),
	}
	return mutate.ConfigFile(built, config)
}

// layer is a tar of the binary alone, which belongs to root, so that the process cannot change it.
func (i *image) layer() ([]byte, error) {
	binary, err := os.ReadFile(i.binary)
	if err != nil {
		return nil, err
	}
	var layer bytes.Buffer
	files := tar.NewWriter(&layer)
	if err := add(files, filepath.Base(i.binary), 0o755, binary, i.created); err != nil {
		return nil, err
	}
	err = files.Close()
	return layer.Bytes(), err
}
