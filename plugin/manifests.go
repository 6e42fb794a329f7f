package plugin

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/json"
	utilyaml "k8s.io/apimachinery/pkg/util/yaml"
)

// readFile reads a file, or with - the standard input.
func (s *session) readFile(ctx context.Context, name string) ([]byte, error) {
	return unlessInterrupted(ctx, func() ([]byte, error) {
		if name == "-" {
			return io.ReadAll(s.In)
		}
		return os.ReadFile(name)
	})
}

// unlessInterrupted is what a read returns, unless ctx ends before it. No signal ends a read, and the writer of the
// standard input may never end.
func unlessInterrupted[T any](ctx context.Context, read func() (T, error)) (T, error) {
	type outcome struct {
		value T
		err   error
	}
	outcomes := make(chan outcome, 1)
	go func() {
		value, err := read()
		outcomes <- outcome{value, err}
	}()
	select {
	case got := <-outcomes:
		return got.value, got.err
	case <-ctx.Done():
		return *new(T), &exitError{exitNotApproved, errors.New("interrupted; nothing was changed")}
	}
}

// eachObject reads the objects of YAML documents, and those of the lists among them. The text of a file can be personal
// data, so an error does not quote it.
func eachObject(
	content []byte, toJSON func(document []byte) ([]byte, error), do func(*unstructured.Unstructured) error,
) error {
	documents := utilyaml.NewYAMLReader(bufio.NewReader(bytes.NewReader(content)))
	for number := 1; ; number++ {
		document, err := documents.Read()
		if errors.Is(err, io.EOF) {
			return nil
		}
		object := &unstructured.Unstructured{}
		if err == nil {
			document, err = toJSON(document)
		}
		if err != nil || json.Unmarshal(document, &object.Object) != nil {
			return fmt.Errorf("document %d is no YAML object", number)
		}
		if err := eachItem(object, do); err != nil {
			return fmt.Errorf("document %d: %w", number, err)
		}
	}
}

func eachItem(object *unstructured.Unstructured, do func(*unstructured.Unstructured) error) error {
	switch {
	case len(object.Object) == 0: // a comment
		return nil
	case object.IsList() && strings.HasSuffix(object.GetKind(), "List"):
		return object.EachListItem(func(item runtime.Object) error {
			listed := item.(*unstructured.Unstructured) //nolint:forcetypeassert // as each item is
			// A typed list says the kind once, for all items.
			if listed.GetKind() == "" && listed.GetAPIVersion() == "" {
				listed.SetKind(strings.TrimSuffix(object.GetKind(), "List"))
				listed.SetAPIVersion(object.GetAPIVersion())
			}
			return eachItem(listed, do)
		})
	}
	return do(object)
}
