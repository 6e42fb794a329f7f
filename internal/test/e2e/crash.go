package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"strings"
	"syscall"
	"time"

	coordinationv1 "k8s.io/api/coordination/v1"
	corev1 "k8s.io/api/core/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// killLeader kills the process without any warning, while its creates are under way.
func (s *scenario) killLeader(ctx context.Context) (string, error) {
	return s.disturb(ctx, func(leader process) error { return syscall.Kill(leader.pid, syscall.SIGKILL) })
}

// deleteLeader deletes the Pod, as a drain of the node does. The operator waits for its creates, so no answer is lost.
func (s *scenario) deleteLeader(ctx context.Context) (string, error) {
	detail, err := s.disturb(ctx, func(leader process) error {
		_, err := s.kubectl(ctx, "delete", "pod", leader.pod, "-n", operatorNamespace, "--wait=false")
		return err
	})
	if err == nil && len(s.found) > 0 {
		err = fmt.Errorf("the answers of %q were lost, although the operator could wait for them", s.found)
	}
	return detail, err
}

// exhaustLeader takes memory away from the container until the kernel kills its process.
func (s *scenario) exhaustLeader(ctx context.Context) (string, error) {
	var pod string
	detail, err := s.disturb(ctx, func(leader process) error {
		pod = leader.pod
		return until(ctx, "the kernel kills the process", func(context.Context) (bool, string) {
			err := leader.limitMemoryToUsage()
			return !leader.runs(), fmt.Sprint(err)
		})
	})
	if err != nil {
		return "", err
	}
	// The Pod counts as available until the kubelet has noticed.
	var reason string
	err = until(ctx, "the kubelet says how the container ended", func(ctx context.Context) (bool, string) {
		reason, err = s.kubectl(ctx, "get", "pod", pod, "-n", operatorNamespace,
			"-o", "jsonpath={.status.containerStatuses[0].lastState.terminated.reason}")
		return err == nil && reason != "", fmt.Sprint(err)
	})
	if err == nil && reason != "OOMKilled" {
		err = fmt.Errorf("the container was terminated with the reason %q, want OOMKilled", reason)
	}
	return detail, err
}

// hangLeader stops the process until another replica leads, and lets it continue: with answers that it has not read,
// and creates that it has not sent.
func (s *scenario) hangLeader(ctx context.Context) (string, error) {
	return s.disturb(ctx, func(leader process) error {
		if err := syscall.Kill(leader.pid, syscall.SIGSTOP); err != nil {
			return err
		}
		err := s.awaitOtherLeader(ctx, leader.identity)
		return errors.Join(err, syscall.Kill(leader.pid, syscall.SIGCONT))
	})
}

// disturb does something to the leader while its creates are under way, and waits until another process leads and
// every Mandate is Ready.
func (s *scenario) disturb(ctx context.Context, do func(leader process) error) (string, error) {
	if err := s.available(ctx); err != nil {
		return "", err
	}
	before := s.people
	if err := s.startLoad(ctx); err != nil {
		return "", err
	}
	leader, err := s.awaitLeader(ctx)
	if err != nil {
		return "", err
	}
	underWay, err := s.createsUnderWay(ctx)
	if err != nil {
		return "", err
	}
	started := time.Now()
	if err := do(leader); err != nil {
		return "", err
	}
	if err := s.awaitOtherLeader(ctx, leader.identity); err != nil {
		return "", err
	}
	took := time.Since(started)
	if s.found, err = s.settled(ctx); err != nil {
		return "", err
	}
	return fmt.Sprintf("%d creates under way, another leader after %.0f s, %d lost answers found by notifications, "+
		"%d Mandates, no second e-mail", underWay, took.Seconds(), len(s.found), s.people-before), s.available(ctx)
}

func (s *scenario) lease(ctx context.Context) (string, error) {
	lease := &coordinationv1.Lease{}
	key := client.ObjectKey{Namespace: operatorNamespace, Name: operatorName + ".idv.mandate.io"}
	if err := s.cluster.Get(ctx, key, lease); err != nil || lease.Spec.HolderIdentity == nil {
		return "", err
	}
	return *lease.Spec.HolderIdentity, nil
}

func (s *scenario) awaitOtherLeader(ctx context.Context, identity string) error {
	return until(ctx, "another process leads", func(ctx context.Context) (bool, string) {
		now, err := s.lease(ctx)
		return err == nil && now != "" && now != identity, fmt.Sprint(now, err)
	})
}

// awaitLeader waits until a process of the operator leads.
func (s *scenario) awaitLeader(ctx context.Context) (leader process, err error) {
	err = until(ctx, "a process leads", func(ctx context.Context) (bool, string) {
		found, err := s.leader(ctx)
		leader = found
		return err == nil, fmt.Sprint(err)
	})
	return leader, err
}

// leader is the process of the operator that leads. After a failover, the Lease can name nobody or one that has ended.
func (s *scenario) leader(ctx context.Context) (process, error) {
	identity, err := s.lease(ctx)
	if err != nil {
		return process{}, err
	}
	name, _, _ := strings.Cut(identity, "_")
	pod := &corev1.Pod{}
	if err := s.cluster.Get(ctx, client.ObjectKey{Namespace: operatorNamespace, Name: name}, pod); err != nil {
		return process{}, err
	}
	processes, err := processesOf(pod)
	if err != nil || len(processes) != 1 {
		return process{}, errors.Join(err, fmt.Errorf("%d processes in %s", len(processes), name))
	}
	processes[0].identity = identity
	return processes[0], nil
}

// limitMemoryToUsage sets the limit of the container to what it uses now.
func (p process) limitMemoryToUsage() error {
	usage, limit := cgroupMount+p.cgroups[""]+"/memory.current", cgroupMount+p.cgroups[""]+"/memory.max"
	if path, v1 := p.cgroups["memory"]; v1 {
		directory := cgroupMount + "/memory" + path
		usage, limit = directory+"/memory.usage_in_bytes", directory+"/memory.limit_in_bytes"
	}
	used, err := os.ReadFile(usage)
	if err != nil {
		return err
	}
	return os.WriteFile(limit, used, 0)
}
