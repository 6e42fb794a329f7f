package plugin

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"
	apierrors "k8s.io/apimachinery/pkg/api/errors"

	"github.com/mandate-io/idv/api/v1alpha1"
)

func (s *session) historyCommand() *cobra.Command {
	command := &cobra.Command{
		Use:   "history NAME...",
		Short: "Show everything that was sent for Mandates",
		Long: "Show the calls that the operator sent for Mandates and that act on people or cannot be undone, the oldest " +
			"first: when, what, for whom, with what result, who asked for it, and on which evidence. The command reads the " +
			"ApplicationRecords, which outlive the Mandates. A call without a result may be under way.",
		Example: "  kubectl mandate history -n onboarding acme\n" +
			"  kubectl mandate history -n onboarding acme -o json | jq '.calls[] | select(.kind == \"Complete\").requestedBy'",
		Args:              minimumArgs(1),
		ValidArgsFunction: s.completeMandates(),
		RunE: s.onCluster(func(ctx context.Context, c *cluster, names []string) error {
			var all []*history
			for _, name := range names {
				h, err := c.history(ctx, name)
				if err != nil {
					return err
				}
				all = append(all, h)
			}
			return s.showHistories(all)
		}),
	}
	s.addOutput(command)
	return command
}

// A history is what a record says of the calls for one name.
type history struct {
	Namespace string     `json:"-"` // they are in the metadata of what is printed
	Name      string     `json:"-"`
	Calls     []callView `json:"calls"`
	// Earlier is how many calls before these the record keeps digests of.
	Earlier int `json:"earlier,omitempty"`
}

func (c *cluster) history(ctx context.Context, name string) (*history, error) {
	h := &history{Namespace: c.namespace, Name: name, Calls: []callView{}}
	record := &v1alpha1.ApplicationRecord{}
	switch err := c.Get(ctx, c.key(name), record); {
	case apierrors.IsNotFound(err):
		_, err = c.mandate(ctx, name) // without one, the name is a mistake
		return h, err
	case err != nil:
		return nil, explainError(err)
	}
	record = printableCopy(record)
	h.Earlier = len(record.Spec.Earlier)
	for i := range record.Spec.Calls {
		h.Calls = append(h.Calls, *newCallView(&record.Spec.Calls[i]))
	}
	slices.SortStableFunc(h.Calls, func(a, b callView) int { return cmp.Compare(a.Seq, b.Seq) })
	return h, nil
}

func (s *session) showHistories(all []*history) error {
	var objects []printed
	for _, h := range all {
		objects = append(objects, printed{kindRecord, h.Namespace, h.Name, h})
	}
	return s.show(false, objects, func(p *printer) {
		for i, h := range all {
			if i > 0 {
				p.line()
			}
			if len(all) > 1 {
				p.line(p.styled(bold, "Mandate "+h.Namespace+"/"+h.Name))
			}
			if len(h.Calls) == 0 {
				fmt.Fprintf(s.ErrOut, "Nothing was sent for %s/%s.\n", h.Namespace, h.Name)
				continue
			}
			p.history(h)
		}
	})
}

func (p *printer) history(h *history) {
	lines := [][]string{{"BEGUN", "CALL", "FOR", "RESULT", "REQUESTS", "REQUESTED BY", "EVIDENCE", "ACTION"}}
	for i := range h.Calls {
		lines = append(lines, historyCells(&h.Calls[i]))
	}
	p.columns(lines)
	if h.Earlier > 0 {
		p.line()
		p.line("Before these: ", plural(int64(h.Earlier), "call"), ", of which the record keeps digests only.")
	}
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
	return orDashes(
		c.Started.UTC().Format(time.RFC3339), c.Kind, strings.TrimSpace(about), result,
		strconv.Itoa(int(c.Sends)), c.RequestedBy, c.Evidence, c.Action,
	)
}
