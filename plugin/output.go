package plugin

import (
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/util/json"
	"k8s.io/cli-runtime/pkg/genericclioptions"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/mandate-io/idv/api/v1alpha1"
)

// outputFlag is --output of a command that prints objects. It has the formats of kubectl, and those of the command.
type outputFlag struct {
	format string
	own    []string
}

// commonFormats are those of every command.
var commonFormats = []string{"json", "yaml", "name", "jsonpath=TEMPLATE", "go-template=TEMPLATE"}

func (s *session) addOutput(command *cobra.Command, own ...string) {
	o, formats := &s.output, slices.Concat(own, commonFormats)
	command.Flags().StringVarP(&o.format, "output", "o", "", "Print as "+strings.Join(formats, "|")+". Default: text.")
	completeFlag(command, "output", formats...)
	command.PreRunE = func(*cobra.Command, []string) error {
		if o.own = own; !o.structured() {
			return nil
		}
		_, err := o.flags().ToPrinter()
		if genericclioptions.IsNoCompatiblePrinterError(err) {
			err = fmt.Errorf("use %s", strings.Join(formats, ", "))
		}
		if err != nil {
			return fmt.Errorf("--output %q: %w", o.format, err)
		}
		return nil
	}
}

// flags are those of kubectl for the format.
func (o *outputFlag) flags() *genericclioptions.PrintFlags {
	return genericclioptions.NewPrintFlags("").WithDefaultOutput(o.format)
}

// structured reports whether a program reads the output.
func (o *outputFlag) structured() bool { return o.format != "" && !slices.Contains(o.own, o.format) }

// text is where a command writes what people read: a program that reads objects gets nothing else.
func (s *session) text() io.Writer {
	if s.output.structured() {
		return s.ErrOut
	}
	return s.Out
}

// printed is what a command prints of one object: a view without personal data, or an object as it is.
type printed struct {
	kind, namespace, name string

	view any
}

// printedOf is what a command prints of an object.
func printedOf(object client.Object, view any) printed {
	return printed{kindOf(object), object.GetNamespace(), object.GetName(), view}
}

// viewPrefix begins the API group of views, so that nobody takes one for the object that it is of.
const viewPrefix = "view."

// show prints objects for a program, if --output says so, or else what write writes for people.
func (s *session) show(isList bool, all []printed, write func(p *printer)) error {
	if s.output.structured() {
		return s.print(isList, all...)
	}
	p := newPrinter(s.Out)
	write(p)
	_, err := fmt.Fprint(s.Out, p.String())
	return err
}

// print prints objects to the standard output.
func (s *session) print(isList bool, all ...printed) error {
	return s.output.printTo(s.Out, isList, all...)
}

// printTo prints one object or, as kubectl does for all that it lists, a List. Without --output, it prints nothing.
func (o *outputFlag) printTo(out io.Writer, isList bool, all ...printed) error {
	if !o.structured() {
		return nil
	}
	list := &unstructured.UnstructuredList{Object: map[string]any{"apiVersion": "v1", "kind": "List"}}
	for i := range all {
		object, err := all[i].object()
		if err != nil {
			return err
		}
		if o.format == "name" {
			object.SetAPIVersion(strings.TrimPrefix(object.GetAPIVersion(), viewPrefix))
		}
		list.Items = append(list.Items, *object)
	}
	printer, err := o.flags().ToPrinter()
	switch {
	case err != nil:
		return err
	case isList || len(list.Items) != 1:
		return printer.PrintObj(list, out)
	default:
		return printer.PrintObj(&list.Items[0], out)
	}
}

// object is what kubectl's printers take.
func (p *printed) object() (*unstructured.Unstructured, error) {
	object := &unstructured.Unstructured{}
	encoded, err := json.Marshal(p.view)
	if err == nil {
		err = json.Unmarshal(encoded, &object.Object)
	}
	if err != nil || object.GetKind() != "" {
		return object, err
	}
	object.SetAPIVersion(viewPrefix + v1alpha1.SchemeGroupVersion.String())
	object.SetKind(p.kind)
	object.SetName(p.name)
	object.SetNamespace(p.namespace)
	return object, nil
}

// maximumArgs, exactArgs and minimumArgs are those of cobra, and say how the command is used.
func maximumArgs(n int) cobra.PositionalArgs { return asUsage(cobra.MaximumNArgs(n)) }

func exactArgs(n int) cobra.PositionalArgs { return asUsage(cobra.ExactArgs(n)) }

func minimumArgs(n int) cobra.PositionalArgs { return asUsage(cobra.MinimumNArgs(n)) }

func asUsage(check cobra.PositionalArgs) cobra.PositionalArgs {
	return func(command *cobra.Command, arguments []string) error {
		if err := check(command, arguments); err != nil {
			return fmt.Errorf("%w: %s; see %s --help", err, command.UseLine(), command.CommandPath())
		}
		return nil
	}
}

// oneOf is the value that a text means, whatever its letter case.
func oneOf[T ~string](text string, values ...T) (T, bool) {
	i := slices.IndexFunc(values, func(value T) bool { return strings.EqualFold(text, string(value)) })
	if i < 0 {
		return "", false
	}
	return values[i], true
}
