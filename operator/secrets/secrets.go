// Package secrets reads the Secrets that specs name. Each says what it is for, so nobody who may only name a Secret has
// the operator send what was not meant for a service.
package secrets

import (
	"context"
	"errors"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/mandate-io/idv/api/v1alpha1"
)

// ErrNotForThis means that a Secret does not say that it is for the use for which it is read.
var ErrNotForThis = errors.New("the Secret is not for this use")

// Get reads a Secret from the API server, for a use. Other errors than ErrNotForThis are those of the API server. Only
// without an error does the Secret hold anything; it is never nil.
func Get(
	ctx context.Context, reader client.Reader, ref v1alpha1.NamespacedSecretReference, use v1alpha1.SecretUse,
) (*corev1.Secret, error) {
	var secret corev1.Secret
	if err := reader.Get(ctx, client.ObjectKey{Namespace: ref.Namespace, Name: ref.Name}, &secret); err != nil {
		return &corev1.Secret{}, err
	}
	if !isFor(&secret, use) {
		return &corev1.Secret{}, ErrNotForThis
	}
	return &secret, nil
}

// isFor reports whether a Secret is for a use: by its label or, without one, by its type.
func isFor(s *corev1.Secret, use v1alpha1.SecretUse) bool {
	if uses, labelled := s.Labels[v1alpha1.SecretUseLabel]; labelled {
		return slices.Contains(strings.Split(uses, "."), string(use))
	}
	return string(s.Type) == v1alpha1.SecretTypePrefix+string(use)
}
