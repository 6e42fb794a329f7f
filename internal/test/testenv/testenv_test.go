package testenv

import (
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/mandate-io/idv/internal/test/await"
)

func newEnvironment(t *testing.T) *Environment {
	t.Helper()
	e, err := New()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := e.Close(); err != nil {
			t.Errorf("closing: %v", err)
		}
		if _, err := os.Stat(e.Dir); !os.IsNotExist(err) {
			t.Errorf("%s remains: %v", e.Dir, err)
		}
	})
	return e
}

// newControlPlane is an Environment with an API server, which takes seconds to start.
func newControlPlane(t *testing.T) *Environment {
	t.Helper()
	SkipIfShort(t)
	e := newEnvironment(t)
	if err := e.StartControlPlane(); err != nil {
		t.Fatal(err)
	}
	return e
}

func TestControlPlane(t *testing.T) {
	e := newControlPlane(t)
	if err := e.InstallCRDs(); err != nil {
		t.Fatal(err)
	}
	c, err := client.New(e.Config, client.Options{})
	if err != nil {
		t.Fatal(err)
	}
	name := e.Namespace(t)
	if err := c.Get(t.Context(), client.ObjectKey{Name: name}, &corev1.Namespace{}); err != nil {
		t.Error(err)
	}
	if other := e.Namespace(t); other == name {
		t.Errorf("two namespaces have the name %s", name)
	}

	kubeconfig := filepath.Join(e.Dir, "kubeconfig")
	if err := e.WriteKubeconfig(kubeconfig); err != nil {
		t.Fatal(err)
	}
	cmd := exec.CommandContext(t.Context(), e.Kubectl, "--kubeconfig", kubeconfig, "get", "mandates", "--all-namespaces")
	output, err := cmd.CombinedOutput()
	if err != nil {
		t.Errorf("kubectl: %v\n%s", err, output)
	}
}

func TestMissingBinary(t *testing.T) {
	assets := t.TempDir()
	if err := os.WriteFile(filepath.Join(assets, "etcd"), nil, 0o700); err != nil {
		t.Fatal(err)
	}
	t.Setenv("KUBEBUILDER_ASSETS", assets)
	err := newEnvironment(t).StartControlPlane()
	if err == nil || !strings.Contains(err.Error(), "kube-apiserver is missing in "+assets) ||
		!strings.Contains(err.Error(), "make tools") {
		t.Errorf("error = %v, want one that names the binary and says make tools", err)
	}
}

func TestFindKubectl(t *testing.T) {
	with, without := t.TempDir(), t.TempDir()
	kubectl := filepath.Join(with, "kubectl")
	if err := os.WriteFile(kubectl, nil, 0o700); err != nil {
		t.Fatal(err)
	}
	onPath := t.TempDir()
	if err := os.WriteFile(filepath.Join(onPath, "kubectl"), nil, 0o700); err != nil {
		t.Fatal(err)
	}
	cases := map[string]struct{ assets, path, want, wantErr string }{
		"beside the API server": {assets: with, path: onPath, want: kubectl},
		"on PATH":               {assets: without, path: onPath, want: filepath.Join(onPath, "kubectl")},
		"nowhere":               {assets: without, path: without, wantErr: "kubectl is missing in " + without},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Setenv("KUBEBUILDER_ASSETS", tc.assets)
			t.Setenv("PATH", tc.path)
			got, err := newEnvironment(t).findKubectl()
			failed := err != nil
			if got != tc.want || failed != (tc.wantErr != "") || failed && !strings.Contains(err.Error(), tc.wantErr) {
				t.Errorf("got %q, %v, want %q, %q", got, err, tc.want, tc.wantErr)
			}
		})
	}
}

func TestProcess(t *testing.T) {
	const obedient = `trap 'echo exiting; exit 0' TERM; echo "ready on port $1"; while :; do sleep 0.05; done`
	const stubborn = `trap '' TERM; echo ready; while :; do sleep 0.05; done`
	ready := regexp.MustCompile(`ready(?: on port (\d+))?\n`)
	cases := map[string]struct {
		script  string
		stop    func(*Process) error
		wantLog string
	}{
		"stopped": {script: obedient, stop: (*Process).Stop, wantLog: "ready on port 8080\nexiting\n"},
		"killed":  {script: stubborn, stop: (*Process).Kill, wantLog: "ready\n"},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			e := newEnvironment(t)
			p, err := e.Start("script", exec.CommandContext(t.Context(), "sh", "-c", tc.script, "sh", "8080"))
			if err != nil {
				t.Fatal(err)
			}
			match, err := p.WaitForLog(await.Context(t), ready)
			if err != nil {
				t.Fatal(err)
			}
			if tc.script == obedient && match[1] != "8080" {
				t.Errorf("match = %q, want the port as its group", match)
			}
			if err := tc.stop(p); err != nil {
				t.Error(err)
			}
			select {
			case <-p.Exited():
			default:
				t.Error("the process has not exited")
			}
			if log, err := os.ReadFile(p.Log); err != nil || string(log) != tc.wantLog {
				t.Errorf("log = %q, %v, want %q", log, err, tc.wantLog)
			}
		})
	}
}

func TestWaitForLogOfProcessThatExits(t *testing.T) {
	e := newEnvironment(t)
	p, err := e.Start("script", exec.CommandContext(t.Context(), "sh", "-c", "echo no such flag >&2; exit 3"))
	if err != nil {
		t.Fatal(err)
	}
	_, err = p.WaitForLog(await.Context(t), regexp.MustCompile("ready"))
	if err == nil || !strings.Contains(err.Error(), "exit status 3") || !strings.Contains(err.Error(), "no such flag") {
		t.Errorf("error = %v, want one with the exit status and the log", err)
	}
}

func TestWaitForLogAfterRestart(t *testing.T) {
	e := newEnvironment(t)
	var match []string
	for _, port := range []string{"1", "2"} {
		p, err := e.Start("script", exec.CommandContext(t.Context(), "echo", "port", port))
		if err != nil {
			t.Fatal(err)
		}
		if match, err = p.WaitForLog(await.Context(t), regexp.MustCompile(`port (\d)`)); err != nil {
			t.Fatal(err)
		}
		<-p.Exited()
	}
	if match[1] != "2" {
		t.Errorf("port = %s, want 2, which the second process logged", match[1])
	}
}

func TestBuild(t *testing.T) {
	e := newEnvironment(t)
	binary, err := e.Build("./internal/test/testenv/testdata/hello")
	if err != nil {
		t.Fatal(err)
	}
	built, err := os.Stat(binary)
	if err != nil {
		t.Fatal(err)
	}
	again, err := e.Build("./internal/test/testenv/testdata/hello")
	if err != nil || again != binary {
		t.Fatalf("building again: %s, %v", again, err)
	}
	if info, err := os.Stat(binary); err != nil || !info.ModTime().Equal(built.ModTime()) {
		t.Errorf("the binary was built twice: %v", err)
	}
	p, err := e.Start("hello", exec.CommandContext(t.Context(), binary))
	if err != nil {
		t.Fatal(err)
	}
	match, err := p.WaitForLog(await.Context(t), regexp.MustCompile(`http://\S+`))
	if err != nil {
		t.Fatal(err)
	}
	if err := p.WaitForURL(await.Context(t), match[0]); err != nil {
		t.Error(err)
	}
	const missing = "./internal/test/testenv/testdata/none"
	if _, err := e.Build(missing); err == nil || !strings.Contains(err.Error(), "go build "+missing) {
		t.Errorf("error = %v, want one that names the package", err)
	}
}
