package main

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"time"

	corev1 "k8s.io/api/core/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// process is one of a container, as the node sees it.
type process struct {
	pid      int
	pod      string
	identity string            // in the Lease, if it leads
	cgroups  map[string]string // paths by controller; "" is that of cgroup v2
	status   map[string]string // of /proc/PID/status
	readOnly bool              // its root file system
}

var readOnlyRoot = regexp.MustCompile(`(?m)^\d+ \d+ \S+ \S+ / ro,`)

// processesOf finds the processes of a Pod's containers. pause is not one.
func processesOf(pod *corev1.Pod) ([]process, error) {
	directories, err := filepath.Glob("/proc/[0-9]*")
	if err != nil {
		return nil, err
	}
	var found []process
	for _, directory := range directories {
		executable, err := os.Readlink(directory + "/exe")
		if err != nil || executable == "/pause" {
			continue // a kernel thread, or it has just ended
		}
		cgroups, err := os.ReadFile(directory + "/cgroup")
		if err != nil || !strings.Contains(string(cgroups), "/pod"+string(pod.UID)+"/") {
			continue
		}
		pid, err := strconv.Atoi(filepath.Base(directory))
		if err != nil {
			return nil, err
		}
		status, err := os.ReadFile(directory + "/status")
		if err != nil {
			return nil, err
		}
		mounts, err := os.ReadFile(directory + "/mountinfo")
		if err != nil {
			return nil, err
		}
		found = append(found, process{
			pid: pid, pod: pod.Name, cgroups: parseCgroups(string(cgroups)), status: parseStatus(string(status)),
			readOnly: readOnlyRoot.Match(mounts),
		})
	}
	return found, nil
}

// parseCgroups parses /proc/PID/cgroup.
func parseCgroups(content string) map[string]string {
	paths := map[string]string{}
	for line := range strings.Lines(content) {
		parts := strings.SplitN(strings.TrimSpace(line), ":", 3)
		for controller := range strings.SplitSeq(parts[1], ",") {
			paths[controller] = parts[2]
		}
	}
	return paths
}

// parseStatus parses /proc/PID/status.
func parseStatus(content string) map[string]string {
	fields := map[string]string{}
	for line := range strings.Lines(content) {
		name, value, _ := strings.Cut(line, ":")
		fields[name] = strings.Join(strings.Fields(value), " ")
	}
	return fields
}

func (p process) runs() bool { return syscall.Kill(p.pid, 0) == nil }

// dumpGoroutines ends the processes of the operator with SIGQUIT, and waits until their containers have ended.
func (s *scenario) dumpGoroutines(ctx context.Context) {
	ctx, cancel := context.WithTimeout(ctx, time.Minute) // the step has failed already
	defer cancel()
	pods := &corev1.PodList{}
	if s.cluster == nil || s.cluster.List(ctx, pods, client.InNamespace(operatorNamespace)) != nil {
		return
	}
	for i := range pods.Items {
		processes, err := processesOf(&pods.Items[i])
		for _, p := range processes {
			err = errors.Join(err, syscall.Kill(p.pid, syscall.SIGQUIT))
		}
		if err != nil {
			continue // there is nobody to tell but the log that this is for
		}
		_ = until(ctx, "they have ended", func(context.Context) (bool, string) {
			return !slices.ContainsFunc(processes, process.runs), ""
		})
	}
}
