package main

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"time"
)

// cgroupVariable names the environment variable with the cgroup that the kubelet makes those of its Pods in.
const cgroupVariable = "E2E_CGROUP"

const cgroupMount = "/sys/fs/cgroup"

// cgroup is a cgroup in each hierarchy of the machine. There is one hierarchy with cgroup v2.
type cgroup struct {
	name        string
	directories []string
}

func newCgroup() (*cgroup, error) {
	g := &cgroup{name: fmt.Sprintf("/idv-e2e-%d", os.Getpid())}
	hierarchies, err := filepath.Glob(cgroupMount + "/*/cgroup.procs")
	if err != nil {
		return nil, err
	}
	if _, err := os.Stat(cgroupMount + "/cgroup.controllers"); err == nil {
		hierarchies = []string{cgroupMount + "/cgroup.procs"}
		if err := delegateControllers(); err != nil {
			return nil, err
		}
	}
	if len(hierarchies) == 0 {
		return nil, errors.New("there are no cgroups in " + cgroupMount)
	}
	for _, procs := range hierarchies {
		directory := filepath.Join(filepath.Dir(procs), g.name)
		if err := os.Mkdir(directory, 0o750); err != nil {
			return nil, errors.Join(err, g.remove())
		}
		g.directories = append(g.directories, directory)
	}
	// With cgroup v1, a group without processors takes no process.
	for _, file := range []string{"cpuset.cpus", "cpuset.mems"} {
		directory := filepath.Join(cgroupMount, "cpuset")
		content, err := os.ReadFile(filepath.Join(directory, file))
		if err == nil {
			err = os.WriteFile(filepath.Join(directory, g.name, file), content, 0o600)
		}
		if err != nil && !os.IsNotExist(err) {
			return nil, errors.Join(err, g.remove())
		}
	}
	return g, nil
}

// delegateControllers lets the groups of cgroup v2 have the controllers that the kubelet needs. systemd does so, too.
func delegateControllers() error {
	content, err := os.ReadFile(cgroupMount + "/cgroup.controllers")
	if err != nil {
		return err
	}
	available := strings.Fields(string(content))
	for _, controller := range []string{"cpu", "cpuset", "memory", "pids", "hugetlb"} {
		if controller == "hugetlb" && !slices.Contains(available, controller) {
			continue // the kubelet wants it only where the machine has it
		}
		err := os.WriteFile(cgroupMount+"/cgroup.subtree_control", []byte("+"+controller), 0)
		if err != nil {
			return fmt.Errorf("cgroup v2 without the controller %s: %w", controller, err)
		}
	}
	return nil
}

// remove removes the groups with all below them. They are empty as soon as the kernel has ended the last process.
func (g *cgroup) remove() error {
	var errs []error
	for _, directory := range g.directories {
		errs = append(errs, removeGroups(directory))
	}
	return errors.Join(errs...)
}

func removeGroups(directory string) error {
	below, err := os.ReadDir(directory)
	if err != nil {
		return err
	}
	for _, child := range below {
		if !child.IsDir() {
			continue
		}
		if err := removeGroups(filepath.Join(directory, child.Name())); err != nil {
			return err
		}
	}
	for deadline := time.Now().Add(10 * time.Second); ; {
		err := os.Remove(directory)
		if err == nil || os.IsNotExist(err) {
			return nil
		}
		if !errors.Is(err, syscall.EBUSY) || time.Now().After(deadline) {
			return err
		}
		<-time.After(20 * time.Millisecond)
	}
}
