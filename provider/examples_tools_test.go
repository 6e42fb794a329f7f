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

// installFakeCurl links this program as curl into a directory: the machine may have no curl for the examples.
func installFakeCurl(t *testing.T) (dir string) {
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

// curl gets the URL in the last argument with the token after --oauth2-bearer, and exits as curl --fail does.
func curl(arguments []string) (exit int) {
	url := arguments[len(arguments)-1]
	request, err := http.NewRequest(http.MethodGet, url, http.NoBody) //nolint:noctx // the program ends with it
	if err != nil {
		return 3
	}
	for i, argument := range arguments {
		if argument == "--oauth2-bearer" {
			request.Header.Set("Authorization", "Bearer "+arguments[i+1])
		}
	}
	response, err := (&http.Client{}).Do(request)
	if err != nil {
		return 7
	}
	defer response.Body.Close()
	if response.StatusCode >= http.StatusBadRequest {
		return 22
	}
	if _, err := io.Copy(os.Stdout, response.Body); err != nil {
		return 23
	}
	return 0
}

// shell runs a script in the workspace, with the path of the CLI in the variable CLI.
func (w *workspace) shell(t *testing.T, script string) {
	t.Helper()
	command := exec.CommandContext(t.Context(), "sh", "-eu", "-c", script)
	command.Dir = w.dir
	command.Env = slices.Concat(w.env, []string{"CLI=" + w.cli.path})
	if output, err := command.CombinedOutput(); err != nil {
		t.Fatalf("%s: %v\n%s", script, err, output)
	}
}

func blocksOf(t *testing.T, body hcl.Body, blockType string, labels ...string) hcl.Blocks {
	t.Helper()
	schema := &hcl.BodySchema{Blocks: []hcl.BlockHeaderSchema{{Type: blockType, LabelNames: labels}}}
	content, problems := body.Content(schema)
	if problems.HasErrors() || len(content.Blocks) == 0 {
		t.Fatal(fmt.Errorf("no block %s: %w", blockType, problems))
	}
	return content.Blocks
}
