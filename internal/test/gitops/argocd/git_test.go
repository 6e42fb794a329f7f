package argocd

import (
	"net/http"
	"net/http/cgi"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// repository is https://git.example.com/platform/onboarding.git of the examples.
type repository struct {
	root, tree string
	git        string
	env        []string
}

func newRepository(t *testing.T) *repository {
	t.Helper()
	git, err := exec.LookPath("git")
	if err != nil {
		t.Fatalf("Argo CD needs git: %v", err)
	}
	root := t.TempDir()
	return &repository{
		root: root, tree: filepath.Join(root, "platform", "onboarding.git"), git: git,
		env: []string{
			"HOME=" + root, "GIT_CONFIG_NOSYSTEM=1", "GIT_CONFIG_GLOBAL=" + os.DevNull, "GIT_PROJECT_ROOT=" + root,
			"GIT_HTTP_EXPORT_ALL=1", "GIT_AUTHOR_NAME=test", "GIT_AUTHOR_EMAIL=test@git.example.com",
			"GIT_COMMITTER_NAME=test", "GIT_COMMITTER_EMAIL=test@git.example.com",
		},
	}
}

// handler serves the repository as git itself does.
func (r *repository) handler() http.Handler {
	return &cgi.Handler{Path: r.git, Args: []string{"http-backend"}, Env: r.env}
}

// commit makes files the latest commit, and returns its id.
func (w *world) commit(files map[string]string) string {
	w.Helper()
	r := w.repository
	w.Check(os.MkdirAll(r.tree, 0o700))
	r.run(w, "init", "--quiet", "--initial-branch=main")
	r.run(w, "rm", "-r", "--quiet", "--force", "--ignore-unmatch", ".")
	for name, content := range files {
		path := filepath.Join(r.tree, name)
		w.Check(os.MkdirAll(filepath.Dir(path), 0o700))
		w.Check(os.WriteFile(path, []byte(content), 0o600))
	}
	r.run(w, "add", "--all")
	r.run(w, "commit", "--quiet", "--allow-empty", "--message=edit")
	return r.run(w, "rev-parse", "HEAD")
}

func (r *repository) run(w *world, arguments ...string) string {
	w.Helper()
	command := exec.CommandContext(w.Context(), r.git, arguments...)
	command.Dir, command.Env = r.tree, append(os.Environ(), r.env...)
	output, err := command.CombinedOutput()
	if err != nil {
		w.Fatalf("git %v: %v\n%s", arguments, err, output)
	}
	return strings.TrimSpace(string(output))
}
