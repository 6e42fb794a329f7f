package provider_test

import (
	"fmt"
	"io"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"testing"

	"github.com/hashicorp/hcl/v2"
)

// asCurl makes a directory in which this test's program is called curl: what an example calls may not be on a machine.
func asCurl(t *testing.T) (dir string) {
	t.Helper()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	dir = t.TempDir()
	if err := os.Symlink(self, filepath.Join(dir, "curl")); err != nil {
		t.Fatal(err)
	}
	return dir
}

// curl gets the last argument with the token after --oauth2-bearer, and fails as curl --fail does.
func curl(arguments []string) (exit int) {
	request, err := http.NewRequest(http.MethodGet, arguments[len(arguments)-1], http.NoBody) //nolint:noctx // the program is this request
	if err != nil {
		return 3
	}
	for i, argument := range arguments {
		if argument == "--oauth2-bearer" {
			request.Header.Set("Authorization", "Bearer "+arguments[i+1])
		}
	}
	answer, err := (&http.Client{}).Do(request)
	if err != nil {
		return 7
	}
	defer answer.Body.Close()
	if answer.StatusCode >= http.StatusBadRequest {
		return 22
	}
	if _, err := io.Copy(os.Stdout, answer.Body); err != nil {
		return 23
	}
	return 0
}

// shell runs a script in the workspace; CLI is its Terraform or OpenTofu.
func (w *workspace) shell(t *testing.T, script string) {
	t.Helper()
	command := exec.CommandContext(t.Context(), "sh", "-eu", "-c", script)
	command.Dir, command.Env = w.dir, slices.Concat(w.env, []string{"CLI=" + w.cli.path})
	if output, err := command.CombinedOutput(); err != nil {
		t.Fatalf("%s: %v\n%s", script, err, output)
	}
}

func blocksOf(t *testing.T, body hcl.Body, blockType string, labels ...string) hcl.Blocks {
	t.Helper()
	content, problems := body.Content(&hcl.BodySchema{Blocks: []hcl.BlockHeaderSchema{{Type: blockType, LabelNames: labels}}})
	if problems.HasErrors() || len(content.Blocks) == 0 {
		t.Fatal(fmt.Errorf("no block %s: %w", blockType, problems))
	}
	return content.Blocks
}
