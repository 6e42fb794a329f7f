package plugin

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"strings"

	corev1 "k8s.io/api/core/v1"
	ctrl "sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/yaml"

	"github.com/mandate-io/idv/api/v1alpha1"
	"github.com/mandate-io/idv/internal/client"
	"github.com/mandate-io/idv/internal/printable"
	"github.com/mandate-io/idv/operator/secrets"
)

// A source is where credentials come from. Each has one source: what a source lacks is never taken from another one.
type source struct {
	client.Credentials

	// name says what it is.
	name string
	// baseURL is that of the service that they belong to, "" if the source does not say.
	baseURL string
}

// newSource reads credentials with the names that all sources share, and the base URL with the name that it has there.
func newSource(name string, get func(string) string) *source {
	return &source{client.Credentials{
		Username: get("username"), Password: client.Hide(get("password")),
		ClientID: get("client_id"), ClientSecret: client.Hide(get("client_secret")),
	}, name, get("base_url")}
}

func environment() *source {
	return newSource("the environment", func(key string) string { return os.Getenv("IDV_" + strings.ToUpper(key)) })
}

// secretSource reads a Secret. baseURL is that of the service object that names it, if one does: its author says where
// the values go, and may not be allowed to read them. So the Secret must say that it is for this.
func (c *cluster) secretSource(ctx context.Context, key ctrl.ObjectKey, baseURL string) (*source, error) {
	stored := &corev1.Secret{}
	var err error
	if baseURL == "" {
		err = c.Get(ctx, key, stored)
	} else {
		ref := v1alpha1.NamespacedSecretReference{Namespace: key.Namespace, Name: key.Name}
		stored, err = secrets.Get(ctx, c, ref, v1alpha1.SecretUseCredentials)
	}
	switch {
	case errors.Is(err, secrets.ErrNotForThis):
		return nil, fmt.Errorf("the Secret %s is not for credentials, so nothing is sent. If it is meant for this service, "+
			"run: kubectl label secret -n %s %s %s=%s", printable.Text(key.String()), printable.Text(key.Namespace),
			printable.Text(key.Name), v1alpha1.SecretUseLabel, v1alpha1.SecretUseCredentials)
	case err != nil:
		return nil, explainError(err)
	}
	found := newSource(fmt.Sprintf("the Secret %s", key), func(key string) string { return string(stored.Data[key]) })
	found.baseURL = baseURL
	return found, nil
}

// fileSource reads lines such as username=..., or YAML with the same names, or those of the environment.
func (s *session) fileSource(ctx context.Context, name string) (*source, error) {
	content, err := s.readFile(ctx, name)
	if err != nil {
		return nil, fmt.Errorf("--credentials-file: %w", err)
	}
	values := map[string]string{}
	if yaml.Unmarshal(content, &values) != nil { // its error would show what it read
		values = map[string]string{}
		for line := range strings.Lines(string(content)) {
			key, value, _ := strings.Cut(strings.TrimSpace(strings.TrimPrefix(strings.TrimSpace(line), "export ")), "=")
			values[strings.TrimSpace(key)] = strings.Trim(strings.TrimSpace(value), `"'`)
		}
	}
	return newSource("the file "+name, func(key string) string {
		return cmp.Or(values["IDV_"+strings.ToUpper(key)], values[key])
	}), nil
}

// belongsTo returns the base URL to which the credentials may go: the given one, which must be the source's own if that
// says one.
func (s *source) belongsTo(baseURL string) (string, error) {
	switch {
	case s.Username == "" && s.ClientID == "":
		return "", fmt.Errorf("credentials: missing in %s; set username and password, client_id and client_secret, or both, "+
			"there or in another source: IDV_USERNAME and so on, --identityservice, --secret or --credentials-file", s.name)
	case s.baseURL != "" && baseURL != "" && !client.SameBaseURL(s.baseURL, baseURL):
		return "", fmt.Errorf("the credentials of %s belong to another service than %s; name the source of its own with "+
			"--secret or --credentials-file", s.name, printable.Text(baseURL))
	}
	baseURL = cmp.Or(baseURL, s.baseURL)
	if err := client.ValidateBaseURL(baseURL); err != nil {
		return "", fmt.Errorf("--base-url: %w", err)
	}
	return baseURL, nil
}
