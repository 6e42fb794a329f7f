package main

import (
	"bufio"
	"bytes"
	"encoding/json"
	"encoding/pem"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"
	"time"
)

// inImage is a command whose whole file system is that of the image of this machine's platform.
func inImage(t *testing.T, program string, args ...string) *exec.Cmd {
	t.Helper()
	index, err := read(archiveOf(program), t.TempDir())
	check(t, err)
	manifest, err := index.IndexManifest()
	check(t, err)
	directory := t.TempDir()
	check(t, os.Chmod(directory, 0o755))
	for _, child := range manifest.Manifests {
		if child.Platform.Architecture != runtime.GOARCH {
			continue
		}
		image, err := index.Image(child.Digest)
		check(t, err)
		file := filepath.Join(directory, program)
		check(t, os.WriteFile(file, onlyFile(t, image, program), 0o755))
		command := exec.CommandContext(t.Context(), "/"+program, args...)
		command.Dir, command.Env = "/", []string{}
		command.SysProcAttr = asNobody(t, directory)
		return command
	}
	t.Skipf("there is no image for %s", runtime.GOARCH)
	return nil
}

// asNobody makes a command run as the user of the image, in a root directory. Only root may do that to the machine's
// users. Anybody else does it in a user namespace, where the user of the image is the one who runs the test.
func asNobody(t *testing.T, directory string) *syscall.SysProcAttr {
	t.Helper()
	const id = 65532
	attributes := &syscall.SysProcAttr{Chroot: directory, Credential: &syscall.Credential{Uid: id, Gid: id}}
	if os.Geteuid() == 0 {
		return attributes
	}
	attributes.Credential.NoSetGroups = true
	attributes.Cloneflags = syscall.CLONE_NEWUSER
	attributes.UidMappings = []syscall.SysProcIDMap{{ContainerID: id, HostID: os.Geteuid(), Size: 1}}
	attributes.GidMappings = []syscall.SysProcIDMap{{ContainerID: id, HostID: os.Getegid(), Size: 1}}
	here := *attributes
	here.Chroot = "/"
	probe := exec.CommandContext(t.Context(), "/proc/self/exe", "-test.list=^$")
	probe.SysProcAttr = &here
	if err := probe.Run(); err != nil {
		t.Skipf("without user namespaces, only root can run an image (%v): try sudo make test-image", err)
	}
	return attributes
}

func TestVersions(t *testing.T) {
	for _, program := range programs {
		output, err := inImage(t, program, "--version").CombinedOutput()
		want := program + " " + strings.TrimPrefix(stamp(t, "VERSION"), "v") + " (commit " + stamp(t, "COMMIT") + ", go"
		if err != nil || !strings.HasPrefix(string(output), want) {
			t.Errorf("%s --version: %v, %q, want %q", program, err, output, want)
		}
	}
}

func TestSandboxServes(t *testing.T) {
	command := inImage(t, "idv-sandbox", "--listen=127.0.0.1:0")
	output, err := command.StdoutPipe()
	check(t, err)
	check(t, command.Start())
	line, err := bufio.NewReader(output).ReadString('\n')
	check(t, err)
	url, found := strings.CutPrefix(strings.TrimSpace(line), "listening on ")
	if !found {
		t.Fatalf("the first line is %q", line)
	}
	request, err := http.NewRequestWithContext(t.Context(), http.MethodGet, url+"/sandbox/v1/outbox", http.NoBody)
	check(t, err)
	response, err := (&http.Client{Timeout: time.Minute}).Do(request)
	check(t, err)
	defer response.Body.Close()
	if response.StatusCode != http.StatusOK {
		t.Errorf("it answers %s", response.Status)
	}
	check(t, command.Process.Signal(syscall.SIGTERM))
	check(t, command.Wait())
}

// The operator gets as far as an API server without CRDs lets it: it says which are missing.
func TestOperatorStarts(t *testing.T) {
	var requests atomic.Int32
	server := httptest.NewTLSServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		requests.Add(1)
		w.Header().Set("Content-Type", "application/json")
		switch r.URL.Path {
		case "/api":
			_, _ = w.Write([]byte(`{"kind":"APIVersions","versions":["v1"]}`))
		case "/apis":
			_, _ = w.Write([]byte(`{"kind":"APIGroupList","apiVersion":"v1","groups":[]}`))
		default:
			w.WriteHeader(http.StatusNotFound)
			_, _ = w.Write([]byte(`{"kind":"Status","apiVersion":"v1","status":"Failure","reason":"NotFound","code":404}`))
		}
	}))
	defer server.Close()
	command := inImage(t, "mandate-operator", "--kubeconfig=/kubeconfig", "--metrics-bind-address=0",
		"--health-probe-bind-address=0", "--leader-elect=false")
	kubeconfig := filepath.Join(command.SysProcAttr.Chroot, "kubeconfig")
	check(t, os.WriteFile(kubeconfig, kubeconfigOf(t, server), 0o644))
	var output bytes.Buffer
	command.Stdout, command.Stderr = &output, &output
	err := command.Run()
	if err == nil || !strings.Contains(output.String(), "CRDs are missing") || requests.Load() == 0 {
		t.Errorf("%v after %d requests, want an error that CRDs are missing:\n%s", err, requests.Load(), output.String())
	}
}

func kubeconfigOf(t *testing.T, server *httptest.Server) []byte {
	t.Helper()
	ca := pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: server.Certificate().Raw})
	type object = map[string]any
	content, err := json.Marshal(object{
		"apiVersion": "v1", "kind": "Config", "current-context": "test",
		"clusters": []any{object{"name": "test", "cluster": object{
			"server": server.URL, "certificate-authority-data": ca,
		}}},
		"contexts": []any{object{"name": "test", "context": object{"cluster": "test", "user": "test"}}},
		"users":    []any{object{"name": "test", "user": object{"token": "test"}}},
	})
	check(t, err)
	return content
}
