// Command image packs a static binary of each platform into an image of nothing else, and pushes it. It needs neither a
// container engine nor a registry to pack:
//
//	image pack -o ARCHIVE -name REGISTRY/NAME:TAG [-label KEY=VALUE]... PLATFORM=BINARY...
//	image push ARCHIVE REGISTRY/NAME:TAG
package main

import (
	"errors"
	"flag"
	"fmt"
	"os"
	"strconv"
	"strings"
	"time"

	"github.com/google/go-containerregistry/pkg/authn"
	"github.com/google/go-containerregistry/pkg/name"
	v1 "github.com/google/go-containerregistry/pkg/v1"
	"github.com/google/go-containerregistry/pkg/v1/remote"
)

func main() {
	if err := run(os.Args[1:]); err != nil {
		fmt.Fprintln(os.Stderr, "image:", err)
		os.Exit(1)
	}
}

func run(args []string) error {
	switch {
	case len(args) > 0 && args[0] == "pack":
		return packImage(args[1:])
	case len(args) == 3 && args[0] == "push":
		return push(args[1], args[2])
	}
	return errors.New("want pack -o ARCHIVE -name REGISTRY/NAME:TAG PLATFORM=BINARY..., " +
		"or push ARCHIVE REGISTRY/NAME:TAG")
}

func packImage(args []string) error {
	labels := map[string]string{}
	flags := flag.NewFlagSet("image pack", flag.ContinueOnError)
	output := flags.String("o", "", "`archive` to write")
	reference := flags.String("name", "", "registry/name:tag of the image")
	flags.Func("label", "`key=value` of the image; repeatable", func(label string) error {
		key, value, found := strings.Cut(label, "=")
		if !found {
			return errors.New("want key=value")
		}
		labels[key] = value
		return nil
	})
	if err := flags.Parse(args); err != nil {
		return err
	}
	tag, err := name.NewTag(*reference, name.StrictValidation)
	if err != nil {
		return fmt.Errorf("-name: %w", err)
	}
	created, err := buildTime()
	if err != nil {
		return err
	}
	var images []image
	for _, arg := range flags.Args() {
		platform, binary, _ := strings.Cut(arg, "=")
		parsed, err := v1.ParsePlatform(platform)
		if err != nil {
			return fmt.Errorf("%s: %w", arg, err)
		}
		images = append(images, image{*parsed, binary, labels, created})
	}
	index, err := indexOf(images)
	if err != nil {
		return err
	}
	return write(*output, tag, index, created)
}

// buildTime is that of the source, so that two builds of one commit make one image.
func buildTime() (time.Time, error) {
	seconds, err := strconv.ParseInt(os.Getenv("SOURCE_DATE_EPOCH"), 10, 64)
	if err != nil {
		return time.Time{}, fmt.Errorf("SOURCE_DATE_EPOCH must be the time of the commit in seconds: %w", err)
	}
	return time.Unix(seconds, 0).UTC(), nil
}

// push prints the name of the image by digest, which is what a signature is for.
func push(archive, reference string) error {
	tag, err := name.NewTag(reference)
	if err != nil {
		return fmt.Errorf("%q: %w", reference, err)
	}
	directory, err := os.MkdirTemp("", "image-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(directory) //nolint:errcheck // in the directory for temporary files
	index, err := read(archive, directory)
	if err != nil {
		return fmt.Errorf("%s: %w", archive, err)
	}
	if err := remote.WriteIndex(tag, index, remote.WithAuthFromKeychain(authn.DefaultKeychain)); err != nil {
		return fmt.Errorf("%s: %w; docker login stores the credentials of a registry", tag, err)
	}
	digest, err := index.Digest()
	if err != nil {
		return err
	}
	_, err = fmt.Fprintln(os.Stdout, tag.Context().Digest(digest.String()))
	return err
}
