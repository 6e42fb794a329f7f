package individuals

import (
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"

	"github.com/mandate-io/idv/api/v1alpha1"
)

// An application cannot be changed once it exists: what a Secret says in a way that is not understood must not be left
// out.
func TestDetails(t *testing.T) {
	const email = "jane@example.com"
	for name, test := range map[string]struct {
		inline  v1alpha1.Individual
		secret  map[string]string
		problem string // "": none
	}{
		"all there":   {secret: map[string]string{"email": email, "first_name": "Jane", "date_of_birth": "1990-02-28"}},
		"other keys":  {secret: map[string]string{"email": email, "notes": "x", "team": "y"}},
		"inline wins": {inline: v1alpha1.Individual{Email: email}, secret: map[string]string{"email": "x"}},
		"no address": {
			secret: map[string]string{"first_name": "Jane"}, problem: "email",
		},
		"not an address": {
			secret: map[string]string{"email": "jane"}, problem: "email",
		},
		"a date that is none": {
			secret: map[string]string{"email": email, "date_of_birth": "28.02.1990"}, problem: "date_of_birth",
		},
		"not text": {
			secret: map[string]string{"email": email, "title": "\xff"}, problem: "title",
		},
		"too long": {
			secret:  map[string]string{"email": email, "last_name": strings.Repeat("x", maxDetail+1)},
			problem: "last_name",
		},
		"a key as in the spec": {
			secret:  map[string]string{"email": email, "firstName": "Jane"},
			problem: "firstName must be called first_name",
		},
		"another key as in the spec": {
			secret:  map[string]string{"email": email, "dateOfBirth": "1990-02-28"},
			problem: "dateOfBirth must be called date_of_birth",
		},
		"a key with a dot": {
			secret:  map[string]string{"email": email, "first.name": "Jane"},
			problem: "first.name must be called first_name",
		},
		"a key in capitals": {
			secret: map[string]string{"EMAIL": email}, problem: "EMAIL must be called email",
		},
	} {
		secret := &corev1.Secret{Data: map[string][]byte{}}
		for key, value := range test.secret {
			secret.Data[key] = []byte(value)
		}
		problem, _, _ := strings.Cut(problemText(detailsOf(&test.inline, secret, "team.acme").Problems), "; ")
		if !strings.HasPrefix(problem, test.problem) || test.problem == "" && problem != "" {
			t.Errorf("%s: the problem is %q, want %q", name, problem, test.problem)
		}
		for key, value := range test.secret {
			if len(value) > 2 && strings.Contains(problem, value) {
				t.Errorf("%s: the problem holds the value of %s", name, key)
			}
		}
	}
}

// problemText is what is said of keys.
func problemText(problems []v1alpha1.Problem) string {
	var all []string
	for _, p := range problems {
		all = append(all, strings.NewReplacer("The key ", "", " of the Secret ", "").Replace(p.Message))
	}
	return strings.Join(all, "; ")
}
