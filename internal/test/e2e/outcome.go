package main

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"strings"

	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/mandate-io/idv/api/v1alpha1"
	idv "github.com/mandate-io/idv/internal/client"
	"github.com/mandate-io/idv/internal/sandbox/control"
)

// reachOutcome lets the service notify the operator, and plays the individual of README's Mandate. Its connection reads
// once an hour, so nothing but a notification can move the status.
func (s *scenario) reachOutcome(ctx context.Context) (string, error) {
	// A notification that meets no ready replica is lost, and a person would wait for the next read.
	if err := errors.Join(s.available(ctx), s.subscribe(ctx)); err != nil {
		return "", err
	}
	mandates, err := s.mandates(ctx)
	if err != nil {
		return "", err
	}
	mandate := &mandates[0]
	if _, err := s.sandbox.Play(ctx, control.Play{ApplicationID: *mandate.Status.ApplicationID}); err != nil {
		return "", err
	}
	err = until(ctx, "the status shows that all checks have passed", func(ctx context.Context) (bool, string) {
		if err := s.cluster.Get(ctx, client.ObjectKeyFromObject(mandate), mandate); err != nil {
			return false, err.Error()
		}
		passed, all, _ := strings.Cut(mandate.Status.Progress, "/")
		return passed == all && mandate.Status.State == "in review", fmt.Sprintf("%+v", mandate.Status)
	})
	if err != nil {
		return "", err
	}
	patch := client.MergeFrom(mandate.DeepCopy())
	mandate.Spec.Decision = &v1alpha1.Decision{
		Outcome: v1alpha1.DecisionComplete, Evidence: mandate.Status.Evidence,
	}
	if err := s.cluster.Patch(ctx, mandate, patch); err != nil {
		return "", err
	}
	err = until(ctx, "the Mandate is completed", func(ctx context.Context) (bool, string) {
		if err := s.cluster.Get(ctx, client.ObjectKeyFromObject(mandate), mandate); err != nil {
			return false, err.Error()
		}
		return mandate.Status.Outcome == v1alpha1.OutcomeCompleted, fmt.Sprintf("%+v", mandate.Status)
	})
	request := mandate.Annotations[v1alpha1.ReconcileRequestAnnotation]
	if err == nil && !strings.HasPrefix(request, v1alpha1.NotificationRequestPrefix) {
		err = fmt.Errorf("no notification moved the status: %s is %q", v1alpha1.ReconcileRequestAnnotation, request)
	}
	return mandate.Name + " is completed", err
}

// subscribe sets notifications up as docs/notifications.md says, with the Service in place of an Ingress.
func (s *scenario) subscribe(ctx context.Context) error {
	token := rand.Text() + rand.Text()
	_, err := s.kubectl(ctx, "create", "secret", "generic", "idv-notifications", "-n", readmeNamespace,
		"--type=idv.mandate.io/notifications", "--from-literal=token="+token)
	if err != nil {
		return err
	}
	service := &v1alpha1.IdentityService{}
	if err := s.cluster.Get(ctx, client.ObjectKey{Namespace: readmeNamespace, Name: "default"}, service); err != nil {
		return err
	}
	patch := client.MergeFrom(service.DeepCopy())
	service.Spec.Notifications = &v1alpha1.Notifications{SecretRef: v1alpha1.SecretReference{Name: "idv-notifications"}}
	service.Spec.Polling = v1alpha1.Polling{MinIntervalSeconds: 3600, MaxIntervalSeconds: 3600}
	service.Spec.RequestsPerSecond = 100 // for the creates of later steps
	if err := s.cluster.Patch(ctx, service, patch); err != nil {
		return err
	}
	err = until(ctx, "the receiver knows the token", func(ctx context.Context) (bool, string) {
		err := s.cluster.Get(ctx, client.ObjectKeyFromObject(service), service)
		status := service.Status.Notifications
		return err == nil && status != nil && len(status.TokenDigests) > 0, fmt.Sprint(err)
	})
	if err != nil {
		return err
	}
	subscriber, err := idv.New(idv.Config{
		BaseURL: sandboxURL, Credentials: idv.Credentials{Username: username, Password: idv.Hide(password)},
	})
	if err != nil {
		return err
	}
	receiver := fmt.Sprintf("http://%s-notifications.%s.svc.cluster.local:8082", operatorName, operatorNamespace)
	defer subscriber.Close()
	_, err = subscriber.SubscribeWebhook(ctx, idv.Subscription{
		URL: idv.Hide(receiver + service.Status.Notifications.Path + "/" + token),
	})
	return err
}
