package operator_test

import (
	"bytes"
	"context"
	"encoding/json"
	"flag"
	"fmt"
	"io"
	"maps"
	"math/rand/v2"
	"net/http"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/serializer"
	"k8s.io/client-go/rest"
	toolscache "k8s.io/client-go/tools/cache"
	"sigs.k8s.io/controller-runtime/pkg/cache"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/yaml"

	"github.com/mandate-io/idv/api/v1alpha1"
	"github.com/mandate-io/idv/internal/sandbox"
	"github.com/mandate-io/idv/internal/tolerant"
	"github.com/mandate-io/idv/operator"
)

var (
	drawTime = flag.Duration("draw-time", 0, "how long TestSchemas draws objects; it draws 5000 at least")
	drawSeed = flag.Uint64("draw-seed", 0, "seed of TestSchemas; 0: another one each time")
)

// drawnKinds have an object each that the API server takes.
var drawnKinds = map[string]string{
	"Mandate": `{mandateType: {code: kyc}, individuals: [{name: jane, email: jane@example.com}, {name: n1,
		detailsSecretRef: {name: a}}],
		checkReviews: [{individual: jane, check: liveness, evidence: a1b2c3d4, decision: Accept}],
		decision: {outcome: Complete, evidence: a1b2c3d4-1}}`,
	"MandateAction": `{mandateRef: {name: acme}, type: ResendInvite, individual: jane}`,
	"ApplicationRecord": `{salt: "0123456789abcdef0123456789abcdef",
		account: "0123456789abcdef0123456789abcdef", serviceURL: "https://idv.example.com",
		reference: acme, mandateRef: {uid: u},
		attempt: {nonce: n1, sent: false, ordinal: 1, startedTime: "2026-01-01T00:00:00.000001Z",
		firstStartedTime: "2026-01-01T00:00:00.000001Z"}}`,
	"IdentityService": `{baseURL: "https://idv.invalid", credentialsSecretRef: {name: none}}`,
	"ClusterIdentityService": `{baseURL: "https://idv.invalid", credentialsSecretRef: {name: none, namespace: none},
		namespaceSelector: {matchLabels: {a: b}, matchExpressions: [{key: a, operator: In, values: [b]}]}}`,
}

// holdsTime are the fields with a time. The API server takes a list instead of one and, in conditions, times that Go
// cannot read. The field is then left out.
var holdsTime = regexp.MustCompile(
	`(Time|createBefore|conditions|attempt|actions|subscription|notifications|status\.creation|status\.states)$`)

// Whatever the API server takes, the operator decodes: one object that it could not decode was once in the way of all
// others. The objects are drawn from the schemas of the CRDs, and from what metadata may hold.
func TestSchemas(t *testing.T) {
	t.Parallel()
	seed, count := *drawSeed, 5000
	if seed == 0 {
		seed = rand.Uint64()
	}
	if testing.Short() {
		count = 500
	}
	t.Logf("to repeat: -draw-seed=%d", seed)
	s := newSchemas(t)
	began, drawn := time.Now(), 0
	for ; (drawn < count || time.Since(began) < *drawTime) && s.failures < 5; drawn++ {
		s.try(generator{rand.New(rand.NewPCG(seed, uint64(drawn)))}, drawn)
	}
	s.checkStored()
	for _, kind := range s.kinds {
		t.Logf("%s: the API server took %d objects and refused %d", kind.name, kind.accepted, kind.refused)
		if all := kind.accepted + kind.refused; kind.accepted < all/5 || kind.refused < all/20 {
			t.Errorf("%s: of %d drawn objects, %d were accepted: which proves nothing", kind.name, all, kind.accepted)
		}
	}
	t.Logf("%d objects in %s, %d of them stored", drawn, time.Since(began).Round(time.Second), s.stored)
}

// schemas sends drawn objects to the API server.
type schemas struct {
	*world

	http             *http.Client
	decoder          runtime.Decoder
	transform        toolscache.TransformFunc // of the operator's cache
	kinds            []*drawnKind
	stored, failures int
}

type drawnKind struct {
	name, path        string
	schema            *apiextensionsv1.JSONSchemaProps
	spec              map[string]any // of the object that exists
	accepted, refused int
}

func newSchemas(t *testing.T) *schemas {
	t.Helper()
	s := &schemas{world: newWorld(t, sandbox.Options{})}
	var err error
	s.http, err = rest.HTTPClientFor(tolerant.Config(env.Config))
	s.check(err)
	s.decoder = serializer.NewCodecFactory(operator.Scheme()).UniversalDeserializer()
	s.transform = operator.Transform()
	paths, err := filepath.Glob(filepath.Join(env.Root, "config", "crd", "bases", "*.yaml"))
	s.check(err)
	for _, file := range paths {
		content, err := os.ReadFile(file)
		s.check(err)
		crd := &apiextensionsv1.CustomResourceDefinition{}
		s.check(yaml.UnmarshalStrict(content, crd))
		kind := &drawnKind{
			name: crd.Spec.Names.Kind, schema: crd.Spec.Versions[0].Schema.OpenAPIV3Schema,
			path: "/apis/" + v1alpha1.SchemeGroupVersion.String(),
		}
		if crd.Spec.Scope == apiextensionsv1.NamespaceScoped {
			kind.path += "/namespaces/" + s.namespace
		}
		kind.path += "/" + crd.Spec.Names.Plural
		s.check(yaml.Unmarshal([]byte(drawnKinds[kind.name]), &kind.spec))
		status, answer := s.send(http.MethodPost, kind.path, kind.object(s.namespace, nil, kind.spec))
		if status != http.StatusCreated {
			t.Fatalf("%s: %d %s", kind.name, status, answer)
		}
		s.kinds = append(s.kinds, kind)
	}
	t.Cleanup(func() {
		shared := &v1alpha1.ClusterIdentityService{ObjectMeta: metav1.ObjectMeta{Name: s.namespace}}
		s.check(s.Delete(context.WithoutCancel(t.Context()), shared))
	})
	return s
}

// object of a kind. Some metadata and the spec were drawn.
func (k *drawnKind) object(name string, metadata map[string]any, spec any) any {
	named := map[string]any{"name": name}
	maps.Copy(named, metadata)
	return map[string]any{
		"apiVersion": v1alpha1.SchemeGroupVersion.String(), "kind": k.name, "metadata": named, "spec": spec,
	}
}

// try draws an object, or what to change of the one that exists, and sends it for a dry run.
func (s *schemas) try(g generator, number int) {
	s.Helper()
	kind := s.kinds[number%len(s.kinds)]
	spec, status := kind.schema.Properties["spec"], kind.schema.Properties["status"]
	vary := func(schema *apiextensionsv1.JSONSchemaProps, value any) any {
		for range g.IntN(3) + 1 {
			value = g.vary(schema, value)
		}
		return value
	}
	const dryRun = "?dryRun=All"
	existing := path.Join(kind.path, s.namespace)
	switch g.IntN(6) {
	case 0, 1:
		object := kind.object(fmt.Sprint("drawn-", number), nil, vary(&spec, kind.spec))
		if s.decode(kind, number, http.MethodPost, kind.path+dryRun, object) && s.mayStore(kind, number) {
			s.decode(kind, number, http.MethodPost, kind.path, object)
			s.stored++
		}
	case 2:
		object := kind.object(fmt.Sprint("drawn-", number), g.metadata(), kind.spec)
		s.decode(kind, number, http.MethodPost, kind.path+dryRun, object)
	case 3:
		var operations []any
		metadata := g.metadata()
		for _, field := range slices.Sorted(maps.Keys(metadata)) {
			operations = append(operations, add("/metadata/"+field, metadata[field]))
		}
		s.decode(kind, number, http.MethodPatch, existing+dryRun, operations)
	case 4:
		s.decode(kind, number, http.MethodPatch, existing+dryRun, []any{add("/spec", vary(&spec, kind.spec))})
	default:
		if status.Type == "" { // an ApplicationRecord
			s.decode(kind, number, http.MethodPatch, existing+dryRun, []any{add("/spec", vary(&spec, kind.spec))})
			return
		}
		drawn := vary(&status, map[string]any{})
		s.decode(kind, number, http.MethodPatch, existing+"/status"+dryRun, []any{add("/status", drawn)})
	}
}

func add(path string, value any) any {
	return map[string]any{"op": "add", "path": path, "value": value}
}

// mayStore selects some objects. Services are not stored: the operator of another test could connect to them.
func (s *schemas) mayStore(kind *drawnKind, number int) bool {
	return !strings.HasSuffix(kind.name, "IdentityService") && number%7 == 0 && s.stored < 500
}

// decode sends a request, and decodes what the API server answers as the operator does.
func (s *schemas) decode(kind *drawnKind, number int, method, path string, body any) (accepted bool) {
	s.Helper()
	status, answer := s.send(method, path, body)
	switch {
	case status >= http.StatusInternalServerError:
		s.failures++
		s.Errorf("object %d: %s %s: %d %s", number, method, path, status, answer)
		return false
	case status >= http.StatusBadRequest:
		kind.refused++
		return false
	}
	kind.accepted++
	object, _, err := s.decoder.Decode(answer, nil, nil)
	fields := slices.DeleteFunc(tolerant.UnreadableFields(object), holdsTime.MatchString)
	if err == nil {
		_, err = s.transform(object)
	}
	if err != nil || len(fields) > 0 {
		s.failures++
		sent, _ := json.Marshal(body)
		s.Errorf("object %d: %s %s is accepted and not decoded: %q, %v\nsent: %.2000s\nanswer: %.2000s",
			number, method, path, fields, err, sent, answer)
	}
	return true
}

func (s *schemas) send(method, path string, body any) (status int, answer []byte) {
	s.Helper()
	content, err := json.Marshal(body)
	s.check(err)
	url := strings.TrimSuffix(env.Config.Host, "/") + path
	request, err := http.NewRequestWithContext(s.Context(), method, url, bytes.NewReader(content))
	s.check(err)
	request.Header.Set("Content-Type", "application/json")
	if method == http.MethodPatch {
		request.Header.Set("Content-Type", "application/json-patch+json")
	}
	response, err := s.http.Do(request)
	s.check(err)
	defer response.Body.Close()
	answer, err = io.ReadAll(response.Body)
	s.check(err)
	return response.StatusCode, answer
}

// checkStored reads what was stored as the operator does, by lists and watches.
func (s *schemas) checkStored() {
	s.Helper()
	config := tolerant.Config(env.Config)
	reader, err := client.New(config, client.Options{Scheme: operator.Scheme()})
	s.check(err)
	cached, err := cache.New(config, operator.CacheOptions(s.namespace))
	s.check(err)
	ctx, cancel := context.WithCancel(s.Context())
	defer cancel()
	go func() { _ = cached.Start(ctx) }()
	if _, err := cached.GetInformer(ctx, &v1alpha1.Mandate{}); err != nil || !cached.WaitForCacheSync(ctx) {
		s.Fatal("the cache is not filled", err)
	}
	found := 0
	for _, list := range []client.ObjectList{
		&v1alpha1.MandateList{}, &v1alpha1.MandateActionList{}, &v1alpha1.ApplicationRecordList{},
	} {
		for _, from := range []client.Reader{cached, reader} {
			s.check(from.List(s.Context(), list, client.InNamespace(s.namespace)))
			found += meta.LenList(list)
		}
	}
	if want := 2 * (s.stored + 3); found != want { // read twice, with those that were there before
		s.Errorf("%d objects were read, want %d", found, want)
	}
}
