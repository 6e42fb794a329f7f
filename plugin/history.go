package plugin

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"text/tabwriter"
	"time"

	"github.com/spf13/cobra"
	apierrors "k8s.io/apimachinery/pkg/api/errors"

	"github.com/mandate-io/idv/api/v1alpha1"
	"github.com/mandate-io/idv/internal/printable"
)

func (s *session) historyCommand() *cobra.Command {
	output := outputFlag{}
	command := &cobra.Command{
		Use:   "history NAME",
		Short: "Show everything that was sent for a Mandate",
		Long: "Show the calls that the operator sent for a Mandate and that act on people or cannot be undone, the oldest " +
			"first: when, what, for whom, with what result, who asked for it, and on which evidence. The command reads the " +
			"ApplicationRecord, which outlives the Mandate. A call without a result may be under way.",
		Example: "  kubectl mandate history -n onboarding acme\n" +
			"  kubectl mandate history -n onboarding acme -o json | jq '.calls[] | select(.kind == \"Complete\").requestedBy'",
		Args:              exactArgs(1),
		ValidArgsFunction: s.completeMandates(false),
		RunE: func(command *cobra.Command, arguments []string) error {
			h, err := s.history(command.Context(), arguments[0])
			switch {
			case err != nil:
				return err
			case output.structured():
				return output.print(s.Out, h)
			default:
				return s.showHistory(h)
			}
		},
	}
	output.addTo(command, "json", "yaml")
	return command
}

// A history is what a record says of the calls for one name.
type history struct {
	Namespace string     `json:"namespace"`
	Name      string     `json:"name"`
	Calls     []callView `json:"calls"`
	// Earlier is how many calls before these the record keeps digests of.
	Earlier int `json:"earlier,omitempty"`
}

func (s *session) history(ctx context.Context, name string) (*history, error) {
	c, err := s.cluster()
	if err != nil {
		return nil, err
	}
	h := &history{Namespace: c.namespace, Name: name, Calls: []callView{}}
	record := &v1alpha1.ApplicationRecord{}
	switch err := c.Get(ctx, c.key(name), record); {
	case apierrors.IsNotFound(err):
		_, err = c.mandate(ctx, name) // without one, the name is a mistake
		return h, err
	case err != nil:
		return nil, explainError(err)
	}
	h.Earlier = len(record.Spec.Earlier)
	for i := range record.Spec.Calls {
		h.Calls = append(h.Calls, *newCallView(&record.Spec.Calls[i]))
	}
	slices.SortStableFunc(h.Calls, func(a, b callView) int { return cmp.Compare(a.Seq, b.Seq) })
	return h, nil
}

func (s *session) showHistory(h *history) error {
	if len(h.Calls) == 0 {
		fmt.Fprintf(s.ErrOut, "Nothing was sent for %s/%s.\n", h.Namespace, h.Name)
		return nil
	}
	writer := tabwriter.NewWriter(s.Out, 0, 8, 3, ' ', 0)
	fmt.Fprintln(writer, "BEGUN\tCALL\tFOR\tRESULT\tREQUESTS\tREQUESTED BY\tEVIDENCE\tACTION")
	for i := range h.Calls {
		cells := historyCells(&h.Calls[i])
		for j, cell := range cells {
			cells[j] = cmp.Or(printable.Text(cell), "-")
		}
		fmt.Fprintln(writer, strings.Join(cells, "\t"))
	}
	if err := writer.Flush(); err != nil {
		return err
	}
	if h.Earlier > 0 {
		fmt.Fprintf(s.Out, "\nBefore these: %s, of which the record keeps digests only.\n",
			plural(int64(h.Earlier), "call"))
	}
	return nil
}

func historyCells(c *callView) []string {
	about := c.Individual
	if c.Check != 0 {
		about += " check " + strconv.FormatInt(c.Check, 10)
	}
	result := cmp.Or(c.Result, "no result yet")
	if c.Answer != "" && c.Answer != c.Result {
		result += ", " + c.Answer
	}
	return []string{
		c.Started.UTC().Format(time.RFC3339), c.Kind, strings.TrimSpace(about), result,
		strconv.Itoa(int(c.Sends)), c.RequestedBy, c.Evidence, c.Action,
	}
}
