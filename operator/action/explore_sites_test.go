package action

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/mandate-io/idv/api/v1alpha1"
	idv "github.com/mandate-io/idv/internal/client"
	"github.com/mandate-io/idv/operator/connection"
	"github.com/mandate-io/idv/operator/engine"
)

const (
	firstURL = "https://idv.example.com"
	otherURL = "https://other.example.com"
)

// Credentials beside the first ones, which are the zero value.
var (
	ofAnotherAccount = [32]byte{1}
	byAnotherName    = [32]byte{2}
)

// site is an account at a service. The application is at home. Away from there, its ids are those of strangers.
type site string

const (
	home     site = "home"
	away     site = "away"
	stranger      = "a stranger"
)

func siteOf(url string, credentials [32]byte) site {
	if url == firstURL && credentials != ofAnotherAccount {
		return home
	}
	return away
}

// otherID is of nobody in the application.
const otherID = 73

// people are the individuals of the application, by their ids.
var people = map[int64]string{janeID: "jane", johnID: "john"}

// personAt is whom a request about an individual reaches.
func personAt(s site, id int64) string {
	if s == home {
		return cmp.Or(people[id], "nobody")
	}
	return stranger
}

// applicationAt is the one with the id of the application. Away from home, that is another one, which may show nothing
// by which it can be told.
func (w *world) applicationAt(s site) *idv.Application {
	of, detail := mandateName, idv.Hide[string]
	switch {
	case s == away && w.silent:
		of, detail = "", func(string) idv.Secret { return idv.Hide("") }
	case s == away:
		of = "unrelated"
	}
	a := &idv.Application{ID: applicationID, Reference: of}
	for _, id := range []int64{janeID, johnID} {
		a.Individuals = append(a.Individuals, idv.Individual{
			ID: id, Reference: detail(of + "." + people[id]), Email: detail(people[id] + "@example.com"),
		})
	}
	if s == home && w.renumbered {
		a.Individuals[0].ID = otherID
	}
	return a
}

// accountOf is what a base URL and credentials say of the account.
func accountOf(url string, credentials [32]byte) connection.Account {
	return connection.NewAccount(url, v1alpha1.GrantTypePassword, string(credentials[:]), "")
}

// services are the names of the IdentityServices. The first is that of the Mandate.
var services = []string{"default", "other"}

func serviceKey(name string) string { return "IdentityService/" + name }

func (w *world) addServices() {
	for i, url := range []string{firstURL, otherURL} {
		w.add(&v1alpha1.IdentityService{
			ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: services[i]},
			Spec:       v1alpha1.IdentityServiceSpec{ServiceSettings: v1alpha1.ServiceSettings{BaseURL: url}},
		})
	}
}

// redirect edits the service of the Mandate: it leads to another one, or back.
func (w *world) redirect() {
	s := w.objects[serviceKey(services[0])].DeepCopyObject().(*v1alpha1.IdentityService)
	s.Generation++
	s.Spec.BaseURL = strings.NewReplacer(firstURL, otherURL, otherURL, firstURL).Replace(s.Spec.BaseURL)
	w.put(s)
}

// exchange puts other credentials into the Secret of the connection, or the first ones again.
func (w *world) exchange(to [32]byte) {
	if w.credentials == to {
		to = [32]byte{}
	}
	w.credentials = to
}

// connectionTo is what an operator makes of the service that its cache shows, and of the Secret.
func (o *operator) connectionTo(w *world, name string) connection.Connection {
	s := o.cache[serviceKey(name)].(*v1alpha1.IdentityService)
	account := accountOf(s.Spec.BaseURL, w.credentials)
	return connection.Connection{
		URL: s.Spec.BaseURL, Credentials: w.credentials, UID: s.UID, Generation: s.Generation, Ready: true,
		Account: account, SameAccounts: connection.SameAccounts(account, w.proofs),
	}
}

// connect makes the connections anew.
func (o *operator) connect(w *world) *operator {
	c := *o
	c.connections = map[string]connection.Connection{}
	for _, name := range services {
		c.connections[name] = o.connectionTo(w, name)
	}
	return &c
}

// isConnected reports whether the connections are those that would be made now.
func (o *operator) isConnected(w *world) bool {
	return !slices.ContainsFunc(services, func(name string) bool {
		is, now := o.connections[name], o.connectionTo(w, name)
		return is.Generation != now.Generation || is.Credentials != now.Credentials ||
			!slices.Equal(is.SameAccounts, now.SameAccounts)
	})
}

func connectionKey(name string) connection.Key {
	return connection.Key{Kind: v1alpha1.ServiceKindIdentityService, Namespace: namespace, Name: name}
}

// registry has the connections of an operator.
func (o *operator) registry() *connection.Registry {
	nobodyListens, cancel := context.WithCancel(context.Background())
	cancel()
	registry := connection.NewRegistry(0)
	for _, name := range services {
		registry.Put(nobodyListens, connectionKey(name), o.connections[name])
	}
	return registry
}

// prove takes over what a step has found out, as the controller of services does (A6: no two accounts are one that are
// not).
func (s *environment) prove(found *engine.Services) {
	for _, name := range services {
		for _, proof := range found.Connections.Proofs(connectionKey(name)) {
			s.world.proofs = connection.WithProofs(s.world.proofs, []v1alpha1.SameAccount{proof})
			if s.site != home {
				s.violation = cmp.Or(s.violation, "A6: the account of a stranger passes for the one of the application")
			}
		}
	}
}

// wrongPerson says what is wrong with whom a request reaches (A6).
func (s *environment) wrongPerson(id int64) string {
	if named, reached := s.current.action.Spec.Individual, personAt(s.site, id); reached != named {
		return fmt.Sprintf("A6: a request for %s reaches %s", named, reached)
	}
	return ""
}

// siteMoves change where the connections lead, and which individual is which.
func siteMoves(s *state, spend func(move, string, func(*world))) {
	spend(redirect, "a user points the IdentityService at another service", (*world).redirect)
	spend(exchange, "a user exchanges the credentials", func(w *world) { w.exchange(ofAnotherAccount) })
	spend(alias, "a user exchanges the user name", func(w *world) { w.exchange(byAnotherName) })
	if s.world.mandate() == nil {
		return
	}
	spend(retarget, "a Mandate of the name has another IdentityService", func(w *world) {
		from := w.mandate().Spec.ServiceRef.Name
		w.remove(mandateKey)
		w.addMandate(services[1-slices.Index(services, from)])
		w.bind()
	})
	spend(mistake, "the Secrets of jane and john are exchanged", func(w *world) { w.addSecrets(!w.mistaken()) })
	spend(mislead, "the status of the Mandate shows jane as john", func(w *world) {
		w.editMandate(func(m *v1alpha1.Mandate) {
			m.Status.Individuals = slices.Clone(m.Status.Individuals)
			for i := range m.Status.Individuals {
				m.Status.Individuals[i].ID = janeID + johnID - m.Status.Individuals[i].ID
			}
		})
	})
	spend(renumber, "the service shows jane with another id", func(w *world) {
		w.renumbered = true
		w.editMandate(func(m *v1alpha1.Mandate) {
			m.Status.Individuals = []v1alpha1.IndividualStatus{{Name: "jane", ID: otherID}, {Name: "john", ID: johnID}}
		})
	})
}

// addSecrets makes the Secrets with the details of the individuals, the right ones or those of each other.
func (w *world) addSecrets(mistaken bool) {
	of := map[string]string{"jane": "jane", "john": "john"}
	if mistaken {
		of = map[string]string{"jane": "john", "john": "jane"}
	}
	for _, name := range slices.Sorted(maps.Keys(of)) {
		w.put(&corev1.Secret{
			ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: name},
			Type:       "idv.mandate.io/individual",
			Data: map[string][]byte{
				"email": []byte(of[name] + "@example.com"), "reference": []byte(mandateName + "." + of[name]),
			},
		})
	}
}

// mistaken reports whether the Secret of jane is that of john.
func (w *world) mistaken() bool {
	secret := w.objects["Secret/jane"].(*corev1.Secret)
	return strings.HasPrefix(string(secret.Data["email"]), "john")
}

// isAway reports whether the connection of the Mandate leads to strangers, so that its actions wait.
func (w *world) isAway() bool {
	s := w.objects[serviceKey(w.mandate().Spec.ServiceRef.Name)].(*v1alpha1.IdentityService)
	return siteOf(s.Spec.BaseURL, w.credentials) != home
}

// isConfused reports whether the Secrets or the status say something else of jane than the record.
func (w *world) isConfused() bool {
	shown := w.mandate().Status.Individuals
	return w.mistaken() || w.renumbered || len(shown) > 0 && shown[0].ID != janeID
}
