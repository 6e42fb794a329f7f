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

// explanation is the page that documents the reasons.
const explanation = "docs/conditions.md"

// seenReason is a kind and the reason of a condition, as in "Mandate Suspended".
type seenReason string

// seenReasons are the reasons of all conditions during the tests.
type seenReasons struct {
	mu   sync.Mutex
	seen map[seenReason]bool
}

// watchConditions records the reason of every condition of our kinds until ctx ends.
func watchConditions(ctx context.Context) (*seenReasons, error) {
	s := &seenReasons{seen: map[seenReason]bool{}}
	all, err := cache.New(env.Config, cache.Options{Scheme: operator.Scheme()})
	if err != nil {
		return nil, err
	}
	go func() { _ = all.Start(ctx) }()
	kinds := []client.Object{
		&v1alpha1.IdentityService{}, &v1alpha1.ClusterIdentityService{}, &v1alpha1.Mandate{}, &v1alpha1.MandateAction{},
	}
	handler := toolscache.ResourceEventHandlerFuncs{AddFunc: s.record, UpdateFunc: func(_, now any) { s.record(now) }}
	for _, kind := range kinds {
		informer, err := all.GetInformer(ctx, kind)
		if err != nil {
			return nil, err
		}
		if _, err = informer.AddEventHandler(handler); err != nil {
			return nil, err
		}
	}
	return s, nil
}

func (s *seenReasons) record(object any) {
	kind, conditions := "", []metav1.Condition(nil)
	switch o := object.(type) {
	case *v1alpha1.IdentityService:
		kind, conditions = "IdentityService", o.Status.Conditions
	case *v1alpha1.ClusterIdentityService: // documented with IdentityService
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

// compare compares the reasons in the tests with the documented ones, and the documented ones with the API's constants.
// All three have to be the same.
func (s *seenReasons) compare() (problems []string, err error) {
	page, err := os.ReadFile(filepath.Join(env.Root, explanation))
	if err != nil {
		return nil, err
	}
	documented := documentedReasons(string(page))
	if len(documented) == 0 {
		return nil, errors.New(explanation + " documents no reason")
	}
	// The last changes may arrive late.
	allSeen := func(context.Context) (bool, error) { return len(without(documented, s.copy())) == 0, nil }
	_ = wait.PollUntilContextTimeout(context.Background(), 100*time.Millisecond, time.Minute, true, allSeen)
	add := func(format string, arguments ...any) { problems = append(problems, fmt.Sprintf(format, arguments...)) }
	seen := s.copy()
	for _, c := range without(seen, documented) {
		add("%s does not document the reason %q, which the operator writes", explanation, c)
	}
	for _, c := range without(documented, seen) {
		add("%s documents the reason %q, which the operator writes in no test", explanation, c)
	}
	constants, err := reasonConstants()
	if err != nil {
		return nil, err
	}
	reasons := map[string]bool{}
	for c := range documented {
		reasons[string(c)[strings.LastIndex(string(c), " ")+1:]] = true
	}
	for _, reason := range without(constants, reasons) {
		add("%s does not document the reason %s of the API", explanation, reason)
	}
	for _, reason := range without(reasons, constants) {
		add("%s documents the reason %s, for which the API has no constant", explanation, reason)
	}
	return problems, nil
}

func (s *seenReasons) copy() map[seenReason]bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return maps.Clone(s.seen)
}

// without returns the members of one set that another one lacks, sorted.
func without[T ~string](set, other map[T]bool) []T {
	var missing []T
	for _, member := range slices.Sorted(maps.Keys(set)) {
		if !other[member] {
			missing = append(missing, member)
		}
	}
	return missing
}

// documentedReasons reads the headings of a page: the second level has the kinds, the third their reasons.
func documentedReasons(page string) map[seenReason]bool {
	heading := regexp.MustCompile(`^## (\w+)`)
	section := regexp.MustCompile(`^### (\w+)$`)
	documented, kind := map[seenReason]bool{}, ""
	for line := range strings.Lines(page) {
		if match := heading.FindStringSubmatch(strings.TrimSpace(line)); match != nil {
			kind = match[1]
		}
		if match := section.FindStringSubmatch(strings.TrimSpace(line)); match != nil {
			documented[seenReason(kind+" "+match[1])] = true
		}
	}
	return documented
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
				if value, ok := valueOf(spec, i); ok &&
					(strings.HasPrefix(ident.Name, "Reason") || strings.HasPrefix(ident.Name, "Outcome")) {
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
