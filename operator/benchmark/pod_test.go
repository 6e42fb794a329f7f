package benchmark_test

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"testing"

	appsv1 "k8s.io/api/apps/v1"
	"sigs.k8s.io/yaml"

	"github.com/mandate-io/idv/internal/test/testenv"
)

// pod is the memory of the operator's container in config/manager, and its environment as a kubelet makes it.
type pod struct {
	memoryLimit int64
	environment []string
}

// manager reads the Deployment of the operator.
func manager(tb testing.TB, root string) pod {
	tb.Helper()
	text, err := os.ReadFile(filepath.Join(root, "config", "manager", "deployment.yaml"))
	if err != nil {
		tb.Fatal(err)
	}
	var deployment appsv1.Deployment
	if err := yaml.UnmarshalStrict(text, &deployment); err != nil {
		tb.Fatal(err)
	}
	container := deployment.Spec.Template.Spec.Containers[0]
	environment := append(testenv.ContainerEnvironment(&container), "GOGC=") // make sets one for the API server
	return pod{container.Resources.Limits.Memory().Value(), environment}
}

var highWaterMark = regexp.MustCompile(`VmHWM:\s+(\d+) kB`)

// peak is the largest resident set that the process has had, in MiB, or false where the system does not tell.
func (o worker) peak() (float64, bool) {
	o.Helper()
	status, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", o.PID()))
	if err != nil {
		return 0, false
	}
	match := highWaterMark.FindSubmatch(status)
	if match == nil {
		return 0, false
	}
	kilobytes, err := strconv.ParseFloat(string(match[1]), 64)
	o.check(err)
	return kilobytes / 1024, true
}
