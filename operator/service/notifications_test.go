package service

import (
	"context"
	"errors"
	"maps"
	"slices"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/mandate-io/idv/api/v1alpha1"
)

// tokenReader is an API server that has one Secret, or does not answer.
type tokenReader struct {
	client.Reader
	data map[string]string
	err  error
}

func (s tokenReader) Get(_ context.Context, _ client.ObjectKey, into client.Object, _ ...client.GetOption) error {
	secret := into.(*corev1.Secret)
	secret.Data = map[string][]byte{}
	for key, value := range s.data {
		secret.Data[key] = []byte(value)
	}
	return s.err
}

// A service says why the receiver refuses its deliveries. It says nothing without spec.notifications.
func TestNotificationsProblem(t *testing.T) {
	t.Parallel()
	secrets := schema.GroupResource{Resource: "secrets"}
	token, short := strings.Repeat("t", 32), strings.Repeat("t", 31)
	failure := errors.New("the Secret cannot be decrypted")
	const before = "what was known before"
	for name, c := range map[string]struct {
		tokenReader
		disabled, unset bool
		want            string
	}{
		"none wanted":  {unset: true, disabled: true},
		"good":         {tokenReader: tokenReader{data: map[string]string{"token": token}}},
		"a line break": {tokenReader: tokenReader{data: map[string]string{"token": token + "\n"}}},
		"rotating": {
			tokenReader: tokenReader{data: map[string]string{"token": token, "previousToken": token}},
		},
		"no receiver": {disabled: true, want: v1alpha1.ReasonNotificationsDisabled},
		"no Secret": {
			tokenReader: tokenReader{err: apierrors.NewNotFound(secrets, "tokens")},
			want:        v1alpha1.ReasonNotificationSecretNotFound,
		},
		"not allowed": {
			tokenReader: tokenReader{err: apierrors.NewForbidden(secrets, "tokens", failure)},
			want:        v1alpha1.ReasonNotificationSecretForbidden,
		},
		"another key": {
			tokenReader: tokenReader{data: map[string]string{"Token": token}},
			want:        v1alpha1.ReasonNotificationSecretInvalid,
		},
		"too short": {
			tokenReader: tokenReader{data: map[string]string{"token": short + "\n"}},
			want:        v1alpha1.ReasonNotificationSecretInvalid,
		},
		"white space inside": {
			tokenReader: tokenReader{data: map[string]string{"token": token + " " + token}},
			want:        v1alpha1.ReasonNotificationSecretInvalid,
		},
		"the one from before is too short": {
			tokenReader: tokenReader{data: map[string]string{"token": token, "previousToken": short}},
			want:        v1alpha1.ReasonNotificationSecretInvalid,
		},
		"the Secret cannot be read": {tokenReader: tokenReader{err: failure}, want: before},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := &Reconciler{config: Config{Live: c.tokenReader, Notifications: !c.disabled}}
			service := &v1alpha1.IdentityService{}
			if !c.unset {
				service.Spec.Notifications = &v1alpha1.Notifications{SecretRef: v1alpha1.SecretReference{Name: "tokens"}}
			}
			if got := r.notificationsProblem(t.Context(), service, before); got != c.want {
				t.Errorf("%q, want %q", got, c.want)
			}
		})
	}
}

// The condition is there while there is a problem, and the path all the time.
func TestNotificationsUnavailable(t *testing.T) {
	t.Parallel()
	service := &v1alpha1.IdentityService{}
	service.Namespace, service.Name = "team", "default"
	service.Spec.Notifications = &v1alpha1.Notifications{}
	status := &service.Status
	for _, problem := range append(slices.Sorted(maps.Keys(notificationMessages)), "") {
		showNotifications(service, status, problem)
		shown := meta.FindStatusCondition(status.Conditions, v1alpha1.ConditionNotificationsUnavailable)
		if (shown != nil) != (problem != "") || shown != nil && (shown.Reason != problem || shown.Message == "") {
			t.Errorf("%q: the condition is %+v", problem, shown)
		}
		if status.Notifications.Path != "/notifications/team/default" {
			t.Errorf("%q: the path is %q", problem, status.Notifications.Path)
		}
	}
	service.Spec.Notifications = nil
	showNotifications(service, status, "")
	if status.Notifications != nil {
		t.Errorf("without spec.notifications, the status shows %+v", status.Notifications)
	}
}
