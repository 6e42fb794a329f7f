package plugin

import (
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

func given(c client.Credentials) bool { return c.Username != "" || c.ClientID != "" }

// credentialsFrom reads the four of them with the names that a source has.
func credentialsFrom(get func(string) string, username, password, clientID, clientSecret string) client.Credentials {
	return client.Credentials{
		Username: get(username), Password: client.Hide(get(password)),
		ClientID: get(clientID), ClientSecret: client.Hide(get(clientSecret)),
	}
}

// checkCredentials says what is missing. It shows no value.
func checkCredentials(c client.Credentials) error {
	user, password := c.Username != "", c.Password.Reveal() != ""
	id, secret := c.ClientID != "", c.ClientSecret.Reveal() != ""
	switch {
	case user != password:
		return usageError("credentials: username and password go together; set the missing one")
	case id != secret:
		return usageError("credentials: client_id and client_secret go together; set the missing one")
	case !user && !id:
		return usageError("credentials: missing; set IDV_USERNAME and IDV_PASSWORD, IDV_CLIENT_ID and IDV_CLIENT_SECRET, " +
			"or both, or use --identityservice, --secret or --credentials-file")
	}
	return nil
}

// fromCluster reads the service object and the Secret that the flags name.
func (s *session) fromCluster(ctx context.Context, flags *connectionFlags, options *readings.Options) error {
	name, kind := flags.service.namespaced, v1alpha1.ServiceKindIdentityService
	if flags.service.clusterWide != "" {
		name, kind = flags.service.clusterWide, v1alpha1.ServiceKindClusterIdentityService
	}
	if name == "" && flags.secret == "" {
		return nil
	}
	c, err := s.cluster()
	if err != nil {
		return err
	}
	secret := c.key(flags.secret)
	if name != "" {
		key := serviceKey{kind: kind, name: name}
		if kind == v1alpha1.ServiceKindIdentityService {
			key.namespace = c.namespace
		}
		found, err := c.service(ctx, key)
		if err != nil {
			return explainError(err)
		}
		settings := found.Settings()
		if options.BaseURL == "" {
			options.BaseURL = settings.BaseURL
		}
		options.CABundle = []byte(settings.CABundle)
		if flags.secret == "" {
			of := found.CredentialsSecret()
			flags.secret = of.Name
			secret = ctrl.ObjectKey{Namespace: of.Namespace, Name: of.Name}
		}
	}
	if flags.file != "" {
		return nil
	}
	stored := &corev1.Secret{}
	if err := c.Get(ctx, secret, stored); err != nil {
		return explainError(err)
	}
	get := func(key string) string { return string(stored.Data[key]) }
	options.Credentials = credentialsFrom(get, "username", "password", "client_id", "client_secret")
	return nil
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
