package plugin

import (
	"context"
	"errors"
	"fmt"
	"os"
	"slices"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/util/sets"
	"k8s.io/cli-runtime/pkg/resource"
	"sigs.k8s.io/kustomize/api/krusty"
	"sigs.k8s.io/kustomize/kyaml/filesys"
	"sigs.k8s.io/yaml"

	"github.com/mandate-io/idv/operator/plan"
)

// manifestReader reads the manifests of a plan.
type manifestReader struct {
	*cluster

	options   *planOptions
	generated int // names
}

// revisions are the manifests of the change, and those of the revision before it, if there is one.
func (r *manifestReader) revisions(ctx context.Context) (manifests, earlier []plan.Manifest, err error) {
	manifests, missing, err := r.at(ctx, r.options.to)
	if err != nil {
		return nil, nil, err
	}
	missingBefore := missing
	if r.options.from != "" {
		if earlier, missingBefore, err = r.at(ctx, r.options.from); err != nil {
			return nil, nil, err
		}
	}
	for _, path := range missing {
		if slices.Contains(missingBefore, path) { // or else the change deletes all of it
			return nil, nil, fmt.Errorf("the Git revision %q does not have %s", r.options.to, path)
		}
	}
	return manifests, earlier, nil
}

// at reads the manifests at a Git revision, and says which paths it does not have; "" is as the files are.
func (r *manifestReader) at(
	ctx context.Context, revision string,
) (manifests []plan.Manifest, missing []string, err error) {
	paths := r.options.files
	if r.options.kustomize != "" {
		paths = []string{r.options.kustomize}
	}
	for _, path := range paths {
		found, err := r.readAt(ctx, path, revision)
		switch {
		case errors.Is(err, errMissing):
			missing = append(missing, path)
		case err != nil:
			return nil, nil, err
		}
		manifests = append(manifests, found...)
	}
	return manifests, missing, nil
}

var errMissing = errors.New("the revision does not have the path")

// readAt reads a path at a revision. One that does not have it yet, or any more, is errMissing.
func (r *manifestReader) readAt(ctx context.Context, path, revision string) ([]plan.Manifest, error) {
	if revision == "" {
		return r.read(ctx, path)
	}
	tree, err := checkOut(ctx, path, revision)
	defer func() { _ = os.RemoveAll(tree.dir) }() // the system removes what is left
	if err != nil {
		return nil, err
	}
	if _, err := os.Stat(tree.path); errors.Is(err, os.ErrNotExist) {
		return nil, errMissing
	}
	return r.read(ctx, tree.path)
}

func (r *manifestReader) read(ctx context.Context, path string) ([]plan.Manifest, error) {
	switch {
	case r.options.kustomize != "":
		content, err := kustomized(path)
		if err != nil { // the error quotes patches, which can be personal data
			return nil, fmt.Errorf("the kustomization %s cannot be built; kubectl kustomize or kustomize build says why",
				r.options.kustomize)
		}
		return r.parse(path, content)
	case path == "-":
		content, err := r.readFile(ctx, path)
		if err != nil {
			return nil, err
		}
		return r.parse("the standard input", content)
	}
	files, err := resource.ExpandPathsToFileVisitors(nil, path, r.options.recursive, resource.FileExtensions, nil)
	if err != nil {
		return nil, err
	}
	var manifests []plan.Manifest
	for _, file := range files {
		name := file.(*resource.FileVisitor).Path //nolint:forcetypeassert // as each is
		content, err := os.ReadFile(name)
		if err != nil {
			return nil, err
		}
		found, err := r.parse(name, content)
		if err != nil {
			return nil, err
		}
		manifests = append(manifests, found...)
	}
	return manifests, nil
}

func kustomized(path string) ([]byte, error) {
	built, err := krusty.MakeKustomizer(krusty.MakeDefaultOptions()).Run(filesys.MakeFsOnDisk(), path)
	if err != nil {
		return nil, err
	}
	return built.AsYaml()
}

// parse reads the objects of a stream of YAML documents, and takes those that matter to a plan.
func (r *manifestReader) parse(source string, content []byte) (manifests []plan.Manifest, err error) {
	err = eachObject(content, yaml.YAMLToJSON, func(object *unstructured.Unstructured) error {
		planned, clusterScoped := plan.IsPlanned(object)
		generate := object.GetGenerateName()
		switch {
		case !planned && !plan.Matters(object):
			return nil
		case object.GetName() == "" && generate == "":
			return fmt.Errorf("a %s has no metadata.name", object.GetKind())
		case object.GetName() == "": // each makes another one; the API server shortens the name, too
			r.generated++
			object.SetName(fmt.Sprintf("%.58splan%d", generate, r.generated))
		}
		switch {
		case clusterScoped || object.GetKind() == "Namespace": // kustomize gives all objects the namespace
			object.SetNamespace("")
		case object.GetNamespace() == "":
			object.SetNamespace(r.namespace)
		}
		manifests = append(manifests, plan.Manifest{Object: object})
		return nil
	})
	if err != nil {
		return nil, fmt.Errorf("%s: %w", source, err)
	}
	return manifests, nil
}

// namespacesOf are those of the manifests that something is planned for, and those in which others may release what
// waits.
func namespacesOf(manifests, earlier []plan.Manifest) (own, others sets.Set[string]) {
	own, others = sets.Set[string]{}, sets.Set[string]{}
	for _, manifest := range slices.Concat(manifests, earlier) {
		if planned, _ := plan.IsPlanned(manifest.Object); planned {
			own.Insert(manifest.Object.GetNamespace())
		}
	}
	for _, manifest := range manifests {
		others.Insert(plan.MayRelease(manifest.Object))
	}
	return own.Delete(""), others.Delete("")
}
