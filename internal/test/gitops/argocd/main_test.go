package argocd

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

// prepare adds the CRDs of Argo CD, and removes those of the operator, because its chart brings them.
func prepare(ctx context.Context) error {
	ours := envtest.CRDInstallOptions{Paths: []string{filepath.Join(env.Root, "config", "crd", "bases")}}
	if err := envtest.UninstallCRDs(env.Config, ours); err != nil {
		return err
	}
	list := exec.CommandContext(ctx, "go", "list", "-m", "-f={{.Dir}}", "github.com/argoproj/argo-cd/v3")
	list.Dir = filepath.Join(env.Root, "tools", "argocd")
	list.Env = append(os.Environ(), "GOWORK=off")
	output, err := list.Output()
	if err != nil {
		return fmt.Errorf("%s: %w", strings.Join(list.Args, " "), err)
	}
	manifests := filepath.Join(strings.TrimSpace(string(output)), "manifests", "crds")
	_, err = envtest.InstallCRDs(env.Config, envtest.CRDInstallOptions{
		Paths: []string{
			filepath.Join(manifests, "application-crd.yaml"), filepath.Join(manifests, "appproject-crd.yaml"),
		},
		ErrorIfPathMissing: true,
	})
	return err
}
