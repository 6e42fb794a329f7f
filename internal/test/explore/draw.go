package explore

import (
	"go/ast"
	"go/parser"
	"go/token"
	"reflect"
	"strconv"
	"sync"
	"testing"
	"time"

	"pgregory.net/rapid"
)

// draws is how often Draw asks; rapid.Check asks a hundred times by default.
const draws = 20_000

// Draw holds what a decision promises against all kinds of facts, possible and impossible. Every step has to occur: of
// one that does not, nothing is held. decided draws facts, looks at what is decided, and returns the step.
func Draw[S ~string](t *testing.T, steps []S, decided func(*rapid.T) S) {
	t.Helper()
	var mu sync.Mutex
	drawn, occurred := 0, map[S]int{}
	for drawn < draws && !t.Failed() {
		rapid.Check(t, func(t *rapid.T) {
			s := decided(t)
			mu.Lock()
			defer mu.Unlock()
			drawn++
			occurred[s]++
		})
	}
	for _, s := range steps {
		if occurred[s] == 0 && !t.Failed() {
			t.Errorf("%s did not occur in %d draws", s, drawn)
		}
	}
	t.Logf("%d draws: %v", drawn, occurred)
}

// Steps are the constants of the type step in a file of the package, in their order.
func Steps[S ~string](t *testing.T, name string) []S {
	t.Helper()
	file, err := parser.ParseFile(token.NewFileSet(), name, nil, parser.SkipObjectResolution)
	if err != nil {
		t.Fatal(err)
	}
	var steps []S
	ast.Inspect(file, func(n ast.Node) bool {
		spec, isValue := n.(*ast.ValueSpec)
		if !isValue {
			return true
		}
		of, isStep := spec.Type.(*ast.Ident)
		for _, value := range spec.Values {
			if literal, ok := value.(*ast.BasicLit); ok && isStep && of.Name == "step" {
				text, _ := strconv.Unquote(literal.Value)
				steps = append(steps, S(text))
			}
		}
		return true
	})
	return steps
}

// Mix gives one of the usual facts, in which some fields are as they are in others, which were drawn at random: none, a
// few, or all. Most steps follow from facts that go together, and hardly ever from such as are drawn one by one.
func Mix[F any](t *rapid.T, usual []F, drawn F) F {
	mixed := rapid.SampledFrom(usual).Draw(t, "usual facts")
	share := rapid.SampledFrom([]int{0, 1, 2, 4, 16}).Draw(t, "sixteenths that are drawn")
	mix(t, reflect.ValueOf(&mixed).Elem(), reflect.ValueOf(&drawn).Elem(), share)
	return mixed
}

func mix(t *rapid.T, into, from reflect.Value, share int) {
	if into.Kind() == reflect.Struct && into.Type() != reflect.TypeFor[time.Time]() {
		for i := range into.NumField() {
			mix(t, open(into.Field(i)), open(from.Field(i)), share)
		}
		return
	}
	if rapid.IntRange(0, 15).Draw(t, "is drawn") < share {
		into.Set(from)
	}
}

// Facts draws facts: every field, one that is new as well. samples are slices, each with the values of the fields of
// one type. Times are up to sixty days ago, or none.
func Facts[F any](t *rapid.T, now time.Time, samples ...any) F {
	var drawn F
	of := map[reflect.Type]reflect.Value{}
	for _, values := range samples {
		of[reflect.TypeOf(values).Elem()] = reflect.ValueOf(values)
	}
	var draw func(v reflect.Value, name string)
	draw = func(v reflect.Value, name string) {
		values, sampled := of[v.Type()]
		switch {
		case sampled:
			v.Set(values.Index(rapid.IntRange(0, values.Len()-1).Draw(t, name)))
		case v.Type() == reflect.TypeFor[time.Time]():
			if rapid.IntRange(0, 7).Draw(t, name+" is set") > 0 {
				ago := time.Duration(rapid.Int64Range(-1e9, int64(60*24*time.Hour)).Draw(t, name))
				v.Set(reflect.ValueOf(now.Add(-ago)))
			}
		case v.Kind() == reflect.Bool:
			v.SetBool(rapid.Bool().Draw(t, name))
		case v.Kind() == reflect.Struct:
			for i := range v.NumField() {
				draw(open(v.Field(i)), v.Type().Field(i).Name)
			}
		default:
			t.Fatalf("%s: say which values a %s has", name, v.Type())
		}
	}
	draw(reflect.ValueOf(&drawn).Elem(), "")
	return drawn
}
