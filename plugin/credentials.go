package plugin

import (
	"cmp"
	"context"
	"io"
	"os"
	"strings"

	corev1 "k8s.io/api/core/v1"
	ctrl "sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/yaml"

	"github.com/mandate-io/idv/api/v1alpha1"
	"github.com/mandate-io/idv/internal/client"
	"github.com/mandate-io/idv/plugin/readings"
)

var noCredentials client.Credentials

func areSet(c client.Credentials) bool { return c.Username != "" || c.ClientID != "" }

// credentialsFrom reads the four of them with the names that a source has.
func credentialsFrom(get func(string) string, username, password, clientID, clientSecret string) client.Credentials {
	return client.Credentials{
		Username: get(username), Password: client.Hide(get(password)),
		ClientID: get(clientID), ClientSecret: client.Hide(get(clientSecret)),
	}
}

// credentialsFromEnvironment are for one base URL only if IDV_BASE_URL is set, as in the provider.
func credentialsFromEnvironment(baseURL string) (client.Credentials, error) {
	found := credentialsFrom(os.Getenv, "IDV_USERNAME", "IDV_PASSWORD", "IDV_CLIENT_ID", "IDV_CLIENT_SECRET")
	fixed := os.Getenv("IDV_BASE_URL")
	switch {
	case !areSet(found):
		return found, usageError("credentials: missing; set IDV_USERNAME and IDV_PASSWORD, IDV_CLIENT_ID and " +
			"IDV_CLIENT_SECRET, or both, or use --identityservice, --secret or --credentials-file")
	case fixed != "" && baseURL != "" && !client.SameBaseURL(fixed, baseURL):
		return noCredentials, usageError("the credentials of the environment are for IDV_BASE_URL, which is another " +
			"service; unset it, or use --secret or --credentials-file")
	}
	return found, nil
}

// target is the service object that check-connection is for: the one that the flags name, or else a new one. The
// options get its settings, and its credentials if no file has them.
func (s *session) target(ctx context.Context, flags *connectionFlags, options *readings.Options) (service, error) {
	namespace, err := s.namespace()
	if err != nil {
		return nil, err
	}
	key, named := flags.service.key(namespace)
	key.name = cmp.Or(key.name, "default")
	found := key.empty()
	if !named && flags.secret == "" {
		useSecret(found, v1alpha1.NamespacedSecretReference{Name: "idv"})
		return found, nil
	}
	c, err := s.cluster()
	if err != nil {
		return nil, err
	}
	if named {
		if found, err = c.read(ctx, key); err != nil {
			return nil, err
		}
		options.Settings = *found.Settings()
	}
	if flags.secret != "" {
		useSecret(found, v1alpha1.NamespacedSecretReference{Namespace: namespace, Name: flags.secret})
	}
	if flags.file == "" {
		options.Credentials, err = c.credentials(ctx, found.CredentialsSecret())
	}
	return found, err
}

func (c *cluster) credentials(
	ctx context.Context, secret v1alpha1.NamespacedSecretReference,
) (client.Credentials, error) {
	stored := &corev1.Secret{}
	if err := c.Get(ctx, ctrl.ObjectKey{Namespace: secret.Namespace, Name: secret.Name}, stored); err != nil {
		return noCredentials, explainError(err)
	}
	get := func(key string) string { return string(stored.Data[key]) }
	return credentialsFrom(get, "username", "password", "client_id", "client_secret"), nil
}

// credentialsFile reads lines such as username=..., or YAML with the same names, or those of the environment.
func (s *session) credentialsFile(name string) (client.Credentials, error) {
	in := s.In
	if name != "-" {
		file, err := os.Open(name)
		if err != nil {
			return noCredentials, usageError("--credentials-file: %w", err)
		}
		defer func() { _ = file.Close() }()
		in = file
	}
	content, err := io.ReadAll(io.LimitReader(in, 64<<10))
	if err != nil {
		return noCredentials, usageError("--credentials-file: %w", err)
	}
	values := map[string]string{}
	if yaml.Unmarshal(content, &values) != nil { // its error would show what it read
		values = map[string]string{}
		for line := range strings.Lines(string(content)) {
			key, value, _ := strings.Cut(strings.TrimSpace(strings.TrimPrefix(strings.TrimSpace(line), "export ")), "=")
			values[strings.TrimSpace(key)] = strings.Trim(strings.TrimSpace(value), `"'`)
		}
	}
	get := func(key string) string {
		if value, ok := values["IDV_"+strings.ToUpper(key)]; ok {
			return value
		}
		return values[key]
	}
	return credentialsFrom(get, "username", "password", "client_id", "client_secret"), nil
}
