package service

import (
	"context"
	"errors"
	"maps"
	"slices"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/mandate-io/idv/api/v1alpha1"
	"github.com/mandate-io/idv/internal/lifecycle"
	"github.com/mandate-io/idv/internal/receiver"
	"github.com/mandate-io/idv/operator/engine"
)

// tokenReader is an API server that has one Secret, or does not answer.
type tokenReader struct {
	client.Reader
	data map[string]string
	err  error
}

func (s tokenReader) Get(_ context.Context, _ client.ObjectKey, into client.Object, _ ...client.GetOption) error {
	secret := into.(*corev1.Secret)
	secret.Type, secret.Data = "idv.mandate.io/notifications", map[string][]byte{}
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
		tokens          []string // that are good
	}{
		"none wanted":  {unset: true, disabled: true},
		"good":         {tokenReader: tokenReader{data: map[string]string{"token": token}}, tokens: []string{token}},
		"a line break": {tokenReader: tokenReader{data: map[string]string{"token": token + "\n"}}, tokens: []string{token}},
		"rotating": {
			tokenReader: tokenReader{data: map[string]string{"token": token, "previousToken": token + "0"}},
			tokens:      []string{token, token + "0"},
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
			want:        v1alpha1.ReasonNotificationSecretInvalid, tokens: []string{token},
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
			got := r.receiving(t.Context(), service, receiving{before, []string{before}})
			if got.problem != c.want {
				t.Errorf("%q, want %q", got.problem, c.want)
			}
			var digests []string
			for _, known := range c.tokens {
				digests = append(digests, receiver.Digest(known))
			}
			if c.want == before {
				digests = []string{before}
			}
			if !slices.Equal(got.digests, digests) {
				t.Errorf("the digests are %q, want %q", got.digests, digests)
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
		showNotifications(service, status, receiving{problem, []string{"digest"}}, time.Time{})
		shown := meta.FindStatusCondition(status.Conditions, v1alpha1.ConditionNotificationsUnavailable)
		if (shown != nil) != (problem != "") || shown != nil && (shown.Reason != problem || shown.Message == "") {
			t.Errorf("%q: the condition is %+v", problem, shown)
		}
		n := status.Notifications
		if n.Path != "/notifications/team/default" || !slices.Equal(n.TokenDigests, []string{"digest"}) {
			t.Errorf("%q: the status shows %+v", problem, n)
		}
	}
	service.Spec.Notifications = nil
	showNotifications(service, status, receiving{}, time.Time{})
	if status.Notifications != nil {
		t.Errorf("without spec.notifications, the status shows %+v", status.Notifications)
	}
}

// The status shows every ten minutes that notifications arrive, by the requests that they leave on Mandates.
func TestLastReceivedTime(t *testing.T) {
	t.Parallel()
	service, now := &v1alpha1.IdentityService{}, time.Now().Truncate(time.Second)
	service.Spec.Notifications = &v1alpha1.Notifications{}
	notified := func(request string) *v1alpha1.Mandate {
		m := &v1alpha1.Mandate{}
		m.Annotations = map[string]string{v1alpha1.ReconcileRequestAnnotation: request}
		return m
	}
	at := func(t time.Time) string { return engine.NotificationRequest{Time: t}.String() }
	want := func(what string, want time.Time, requests ...string) {
		t.Helper()
		var found dependents
		for _, request := range requests {
			found.add(notified(request), lifecycle.Names{})
		}
		showNotifications(service, &service.Status, receiving{}, found.notified)
		if got := lastNotified(service); !got.Equal(want) {
			t.Errorf("%s: %s, want %s", what, got, want)
		}
	}
	first, second := now.Add(-time.Hour), now.Add(-51*time.Minute)
	want("none", time.Time{}, "now, please")
	want("one", first, at(first), at(first.Add(-day)))
	want("soon after it", first, at(second))
	want("ten minutes after it", now, at(second), at(now))
	want("an older one", now, at(first))
	want("one from the future", now, at(now.Add(time.Hour)))
	service.Status.Notifications.LastReceivedTime = &metav1.Time{Time: now.Add(day)}
	want("one from the future before", now, at(now))
}

const day = 24 * time.Hour
