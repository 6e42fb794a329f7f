package flux

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"sigs.k8s.io/controller-runtime/pkg/envtest"

	"github.com/mandate-io/idv/internal/test/gitops/cluster"
	"github.com/mandate-io/idv/internal/test/testenv"
)

var env *testenv.Environment

func TestMain(m *testing.M) { cluster.Main(m, &env, prepare) }

// prepare adds what Flux and the operator need.
func prepare(ctx context.Context) error {
	if err := env.GrantOperatorRole(ctx); err != nil {
		return err
	}
	return installFluxCRDs(ctx)
}

// apis are the packages of Flux whose kinds the examples use, and those that the kustomize-controller watches.
var apis = []string{
	"kustomize-controller/api/v1", "source-controller/api/v1", "helm-controller/api/v2",
	"notification-controller/api/v1beta3",
}

// installFluxCRDs makes the CRDs from the types, as Flux does.
func installFluxCRDs(ctx context.Context) error {
	dir := filepath.Join(env.Dir, "flux-crds")
	arguments := []string{"crd", "output:crd:dir=" + dir}
	for _, api := range apis {
		arguments = append(arguments, "paths=github.com/fluxcd/"+api)
	}
	generate := exec.CommandContext(ctx, filepath.Join(env.Root, "bin", "controller-gen"), arguments...)
	generate.Dir = filepath.Join(env.Root, "tools", "flux")
	generate.Env = append(os.Environ(), "GOWORK=off")
	if output, err := generate.CombinedOutput(); err != nil {
		return fmt.Errorf("%s: %w\n%s", strings.Join(generate.Args, " "), err, output)
	}
	_, err := envtest.InstallCRDs(env.Config, envtest.CRDInstallOptions{Paths: []string{dir}, ErrorIfPathMissing: true})
	return err
}

// TestManifests has the API server validate what is for the controllers that do not run here. kubectl refuses fields
// that their kinds do not have.
func TestManifests(t *testing.T) {
	w := cluster.New(t, env)
	w.CreateNamespace(fluxNamespace)
	for _, file := range []string{"flux/operator.yaml", "flux/notifications.yaml"} {
		w.Kubectl("apply", "--filename="+file, "--dry-run=server", "--validate=strict")
	}
}
