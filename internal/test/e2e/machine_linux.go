package main

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
)

// scratch is a tmpfs in the namespaces, with all that the node stores. Its path is short, because of sockets.
const scratch = "/run/idv"

// nodeAddress is the node's address. Pods have the addresses that node/cni.conflist gives them.
const (
	nodeName    = "e2e"
	nodeAddress = "10.77.0.2"
)

// kernelSettings are those of the whole machine that the kubelet sets unless they are right. So it sees them right.
var kernelSettings = map[string]string{
	"vm/overcommit_memory": "1", "vm/panic_on_oom": "0", "kernel/panic": "10", "kernel/panic_on_oops": "1",
	"kernel/keys/root_maxkeys": "1000000", "kernel/keys/root_maxbytes": "25000000",
}

// prepareMachine gives the namespaces file systems, a network and settings of their own.
func prepareMachine() error {
	if err := prepareFiles(); err != nil {
		return err
	}
	if err := syscall.Sethostname([]byte(nodeName)); err != nil {
		return fmt.Errorf("set the host name: %w", err)
	}
	if err := prepareNetwork(); err != nil {
		return err
	}
	for setting, value := range kernelSettings {
		file := filepath.Join(scratch, strings.ReplaceAll(setting, "/", "."))
		if err := os.WriteFile(file, []byte(value+"\n"), 0o600); err != nil {
			return err
		}
		if err := syscall.Mount(file, "/proc/sys/"+setting, "", syscall.MS_BIND, ""); err != nil && !os.IsNotExist(err) {
			return fmt.Errorf("hide the kernel setting %s: %w", setting, err)
		}
	}
	return nil
}

// prepareFiles mounts a tmpfs on /run and overlays on /var and /etc, for programs with fixed paths there.
func prepareFiles() error {
	if err := syscall.Mount("tmpfs", "/run", "tmpfs", 0, "mode=755"); err != nil {
		return fmt.Errorf("mount a tmpfs: %w", err)
	}
	for _, lower := range []string{"/var", "/etc"} {
		over := scratch + "/overlay" + lower
		for _, directory := range []string{over + "/upper", over + "/work"} {
			if err := os.MkdirAll(directory, 0o755); err != nil { //nolint:gosec // as the directories below them
				return err
			}
		}
		options := fmt.Sprintf("lowerdir=%s,upperdir=%s/upper,workdir=%s/work", lower, over, over)
		if err := syscall.Mount("overlay", lower, "overlay", 0, options); err != nil {
			return fmt.Errorf("mount an overlay on %s: %w", lower, err)
		}
	}
	return nil
}

// prepareNetwork makes an interface with the node's address. Its default route, which the kubelet and kube-proxy want,
// leads nowhere: nothing here reaches another machine.
func prepareNetwork() error {
	for _, arguments := range []string{
		"link set lo up",
		"link add node0 type veth peer name node1",
		"addr add " + nodeAddress + "/24 dev node0",
		"link set node0 up",
		"link set node1 up",
		"route add default via 10.77.0.1 dev node0",
	} {
		command := exec.Command("ip", strings.Fields(arguments)...) //nolint:noctx,gosec // the words above
		if output, err := command.CombinedOutput(); err != nil {
			return fmt.Errorf("ip %s: %w: %s", arguments, err, output)
		}
	}
	return os.WriteFile("/proc/sys/net/ipv4/ip_forward", []byte("1"), 0) // of this network namespace only
}
