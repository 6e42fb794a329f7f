package operator_test

import (
	"context"
	"errors"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/wait"
	toolscache "k8s.io/client-go/tools/cache"
	"sigs.k8s.io/controller-runtime/pkg/cache"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/mandate-io/idv/api/v1alpha1"
	"github.com/mandate-io/idv/operator"
)

// explanation is where people look a reason up.
const explanation = "docs/conditions.md"

// seenReason is a kind and the reason of a condition, as in "Mandate Suspended".
type seenReason string

// seenReasons are all that the API server had in the tests.
type seenReasons struct {
	mu   sync.Mutex
	seen map[seenReason]bool
}

// watchConditions notes the reason of every condition of our kinds until ctx ends.
func watchConditions(ctx context.Context) (*seenReasons, error) {
	s := &seenReasons{seen: map[seenReason]bool{}}
	all, err := cache.New(env.Config, cache.Options{Scheme: operator.Scheme()})
	if err != nil {
		return nil, err
	}
	go func() { _ = all.Start(ctx) }()
	for _, object := range []client.Object{&v1alpha1.IdentityService{}, &v1alpha1.ClusterIdentityService{}, &v1alpha1.Mandate{}, &v1alpha1.MandateAction{}} {
		informer, err := all.GetInformer(ctx, object)
		if err != nil {
			return nil, err
		}
		_, err = informer.AddEventHandler(toolscache.ResourceEventHandlerFuncs{AddFunc: s.note, UpdateFunc: func(_, now any) { s.note(now) }})
		if err != nil {
			return nil, err
		}
	}
	return s, nil
}

func (s *seenReasons) note(object any) {
	kind, conditions := "", []metav1.Condition(nil)
	switch o := object.(type) {
	case *v1alpha1.IdentityService:
		kind, conditions = "IdentityService", o.Status.Conditions
	case *v1alpha1.ClusterIdentityService: // the same, for several namespaces
		kind, conditions = "IdentityService", o.Status.Conditions
	case *v1alpha1.Mandate:
		kind, conditions = "Mandate", o.Status.Conditions
	case *v1alpha1.MandateAction:
		kind, conditions = "MandateAction", o.Status.Conditions
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, c := range conditions {
		s.seen[seenReason(kind+" "+c.Reason)] = true
	}
}

// compare compares the reasons of the tests with those that are explained, and these with the API's constants: each must
// have the other.
func (s *seenReasons) compare() (problems []string, err error) {
	page, err := os.ReadFile(filepath.Join(env.Root, explanation))
	if err != nil {
		return nil, err
	}
	explained := explainedReasons(string(page))
	if len(explained) == 0 {
		return nil, errors.New(explanation + " explains no reason")
	}
	// The last events may be on their way.
	_ = wait.PollUntilContextTimeout(context.Background(), 100*time.Millisecond, 5*time.Second, true, func(context.Context) (bool, error) {
		return len(without(explained, s.copy())) == 0, nil
	})
	seen := s.copy()
	for _, c := range without(seen, explained) {
		problems = append(problems, fmt.Sprintf("%s does not explain the reason %q, which the operator wrote", explanation, c))
	}
	for _, c := range without(explained, seen) {
		problems = append(problems, fmt.Sprintf("%s explains the reason %q, which the operator wrote in no test", explanation, c))
	}
	constants, err := reasonConstants()
	if err != nil {
		return nil, err
	}
	reasons := map[string]bool{}
	for c := range explained {
		reasons[string(c)[strings.LastIndex(string(c), " ")+1:]] = true
	}
	for _, reason := range without(constants, reasons) {
		problems = append(problems, fmt.Sprintf("%s does not explain the reason %s of the API", explanation, reason))
	}
	for _, reason := range without(reasons, constants) {
		problems = append(problems, fmt.Sprintf("%s explains the reason %s, for which the API has no constant", explanation, reason))
	}
	return problems, nil
}

func (s *seenReasons) copy() map[seenReason]bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return maps.Clone(s.seen)
}

// without gives what is in one set and not in another, sorted.
func without[T ~string](set, other map[T]bool) []T {
	var rest []T
	for _, member := range slices.Sorted(maps.Keys(set)) {
		if !other[member] {
			rest = append(rest, member)
		}
	}
	return rest
}

// explainedReasons reads the headings: those of the second level name the kinds, those of the third their reasons.
func explainedReasons(page string) map[seenReason]bool {
	heading := regexp.MustCompile(`^## (\w+)`)
	section := regexp.MustCompile(`^### (\w+)$`)
	explained, kind := map[seenReason]bool{}, ""
	for line := range strings.Lines(page) {
		if match := heading.FindStringSubmatch(strings.TrimSpace(line)); match != nil {
			kind = match[1]
		}
		if match := section.FindStringSubmatch(strings.TrimSpace(line)); match != nil {
			explained[seenReason(kind+" "+match[1])] = true
		}
	}
	return explained
}

// reasonConstants are the values of the API's constants Reason... and Outcome...
func reasonConstants() (map[string]bool, error) {
	files, err := filepath.Glob(filepath.Join(env.Root, "api", "v1alpha1", "*.go"))
	if err != nil {
		return nil, err
	}
	constants := map[string]bool{}
	for _, name := range files {
		file, err := parser.ParseFile(token.NewFileSet(), name, nil, parser.SkipObjectResolution)
		if err != nil {
			return nil, err
		}
		ast.Inspect(file, func(node ast.Node) bool {
			spec, ok := node.(*ast.ValueSpec)
			if !ok {
				return true
			}
			for i, ident := range spec.Names {
				if value, ok := valueOf(spec, i); ok && (strings.HasPrefix(ident.Name, "Reason") || strings.HasPrefix(ident.Name, "Outcome")) {
					constants[value] = true
				}
			}
			return true
		})
	}
	return constants, nil
}

func valueOf(spec *ast.ValueSpec, i int) (string, bool) {
	if i >= len(spec.Values) {
		return "", false
	}
	literal, ok := spec.Values[i].(*ast.BasicLit)
	if !ok || literal.Kind != token.STRING {
		return "", false
	}
	return strings.Trim(literal.Value, `"`), true
}
