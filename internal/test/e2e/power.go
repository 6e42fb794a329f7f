package main

import (
	"context"
	"errors"
	"syscall"

	corev1 "k8s.io/api/core/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// losePower ends everything on the node at once, both replicas of the operator and the control plane included, and
// starts it again. Only the service goes on. What etcd has acknowledged is on the disk.
func (s *scenario) losePower(ctx context.Context) (string, error) {
	return s.disturb(ctx, func(process) error {
		if err := s.load.end(); err != nil { // while the API server is away, nobody applies anything
			return err
		}
		pods := &corev1.PodList{}
		if err := s.cluster.List(ctx, pods, client.InNamespace(operatorNamespace)); err != nil {
			return err
		}
		var operators []process
		for i := range pods.Items {
			found, err := processesOf(&pods.Items[i])
			if err != nil {
				return err
			}
			operators = append(operators, found...)
		}
		for _, operator := range operators {
			if err := syscall.Kill(operator.pid, syscall.SIGKILL); err != nil && !errors.Is(err, syscall.ESRCH) {
				return err
			}
		}
		if err := s.killParts(); err != nil {
			return err
		}
		return s.restart(ctx)
	})
}

// killParts ends all parts of the node. That they exit is no failure.
func (n *node) killParts() error {
	parts := n.parts
	n.parts = nil
	var errs []error
	for _, part := range parts {
		part.killed.Store(true)
		errs = append(errs, syscall.Kill(part.PID(), syscall.SIGKILL))
	}
	for _, part := range parts {
		<-part.Exited()
	}
	return errors.Join(errs...)
}

// restart starts the parts again. The images are there, and containers that run stay.
func (n *node) restart(ctx context.Context) error {
	if _, err := n.startControlPlane(ctx); err != nil {
		return err
	}
	if err := n.runContainerd(ctx); err != nil {
		return err
	}
	_, err := n.startNode(ctx)
	return err
}
