package plugin

import (
	"io"
	"os"
	"reflect"
	"regexp"
	"slices"
	"strings"

	"golang.org/x/term"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/mandate-io/idv/internal/printable"
)

// A terminal is a standard stream to which only printable text passes, in lines, and the styles of a printer if it
// shows colours. All output of the plugin goes through one: texts of tenants and of services must not give orders to
// the terminal of somebody else.
type terminal struct {
	out     io.Writer
	colored bool
	width   int
}

// newTerminal returns the terminal of a stream. With the environment variable NO_COLOR (https://no-color.org), or on a
// dumb one, it shows no colours.
func newTerminal(out io.Writer) *terminal {
	t := &terminal{out: out, width: defaultWidth}
	file, ok := out.(*os.File)
	if !ok || !term.IsTerminal(int(file.Fd())) {
		return t
	}
	t.colored = os.Getenv("NO_COLOR") == "" && os.Getenv("TERM") != "dumb"
	if width, _, err := term.GetSize(int(file.Fd())); err == nil && width > 0 {
		t.width = min(max(width, 40), 120)
	}
	return t
}

// styleCode matches what may be a style.
var styleCode = regexp.MustCompile(`\x1b\[\d*m`)

func (t *terminal) Write(text []byte) (int, error) {
	var shown strings.Builder
	rest := string(text)
	for _, code := range styleCode.FindAllString(rest, -1) {
		before, after, _ := strings.Cut(rest, code)
		shown.WriteString(printableLines(before))
		if t.colored && slices.Contains(styles, style(code)) {
			shown.WriteString(code)
		}
		rest = after
	}
	shown.WriteString(printableLines(rest))
	if _, err := io.WriteString(t.out, shown.String()); err != nil {
		return 0, err
	}
	return len(text), nil
}

// printableLines is a text without what a terminal would obey, but for line breaks and tabs.
func printableLines(text string) string {
	return lineParts.ReplaceAllStringFunc(text, printable.Text)
}

// lineParts matches what is between line breaks and tabs.
var lineParts = regexp.MustCompile(`[^\n\t]+`)

// printableLine is a text in one printable line.
func printableLine(text string) string {
	return printable.Text(strings.Join(strings.Fields(text), " "))
}

// printableCopy is a copy of an object whose texts can be shown: none of them has line breaks, with which it could
// imitate output of the plugin, and none has a style of a printer.
func printableCopy[T client.Object](object T) T {
	shown, _ := object.DeepCopyObject().(T) // a copy has the same type
	makePrintable(reflect.ValueOf(shown))
	return shown
}

func makePrintable(v reflect.Value) {
	switch v.Kind() {
	case reflect.Pointer, reflect.Interface:
		makePrintable(v.Elem()) // nothing, if it is nil
	case reflect.Struct:
		for _, field := range v.Fields() {
			if field.CanSet() {
				makePrintable(field)
			}
		}
	case reflect.Slice:
		for i := range v.Len() {
			makePrintable(v.Index(i))
		}
	case reflect.Map:
		for key, value := range v.Seq2() {
			if value.Kind() == reflect.String {
				v.SetMapIndex(key, reflect.ValueOf(printable.Text(value.String())))
			}
		}
	case reflect.String:
		v.SetString(printable.Text(v.String()))
	}
}
