package plugin

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"k8s.io/apimachinery/pkg/api/equality"
	apierrors "k8s.io/apimachinery/pkg/api/errors"

	"github.com/mandate-io/idv/api/v1alpha1"
)

// An order sets one field of the spec of Mandates, for what cannot be undone: on the checks that it has shown, and
// after a confirmation.
type order struct {
	*session

	// field of the spec.
	field string
	// propose says what to set in a Mandate, or why nothing can be set.
	propose func(m *v1alpha1.Mandate) (*proposal, error)

	refresh bool
	dryRun  string
}

// A proposal is what to set in one Mandate.
type proposal struct {
	mandate *v1alpha1.Mandate // as it was shown
	isSet   bool
	set     func(spec *v1alpha1.MandateSpec)
	value   any // of the field, in a manifest
	// What a person reads: before, after, and what follows.
	question, text, next string
}

func (o *order) addTo(command *cobra.Command) {
	flags := command.Flags()
	flags.StringVarP(&o.selector, "selector", "l", "", "Use the Mandates with these labels. Default: those named.")
	o.addYes(command)
	flags.BoolVar(&o.refresh, "refresh", true,
		"Have the operator read the applications first. With --dry-run, only if it is given.")
	flags.StringVar(&o.dryRun, "dry-run", "none",
		"With client, change nothing, and print what would be set.")
	flags.Lookup("dry-run").NoOptDefVal = "client"
	completeFlag(command, "dry-run", "none", "client")
	addTimeout(command, time.Minute)
	o.addOutput(command)
}

func (o *order) run(command *cobra.Command, names []string) error {
	isDry := o.dryRun == "client"
	switch {
	case !isDry && o.dryRun != "none":
		return fmt.Errorf("--dry-run %q: use none or client", o.dryRun)
	case len(names) == 0 == (o.selector == ""):
		return fmt.Errorf("name Mandates, or select them with --selector; see %s --help", command.CommandPath())
	}
	o.refresh = o.refresh && (!isDry || command.Flags().Changed("refresh"))
	return o.onCluster(func(ctx context.Context, c *cluster, names []string) error {
		return o.set(ctx, c, names, isDry)
	})(command, names)
}

func (o *order) set(ctx context.Context, c *cluster, names []string, isDry bool) error {
	mandates, err := c.mandates(ctx, names)
	switch {
	case err != nil:
		return err
	case len(mandates) == 0:
		return fmt.Errorf("no Mandate in the namespace %s has these labels; nothing was changed", c.namespace)
	}
	var problems []error
	if o.refresh {
		mandates, problems = o.read(ctx, c, mandates)
	}
	proposals, undecidable := o.proposals(mandates, isDry)
	problems = append(problems, undecidable...)
	if len(proposals) > 0 && !isDry {
		if err := o.confirmAll(ctx, proposals); err != nil {
			return errors.Join(slices.Insert(problems, 0, err)...)
		}
	}
	var objects []printed
	for _, p := range proposals {
		if err := o.apply(ctx, c, p, isDry); err != nil {
			problems = append(problems, err)
			continue
		}
		objects = append(objects, o.manifest(p))
	}
	if len(objects) > 0 {
		problems = append(problems, o.print(false, objects...))
	}
	return errors.Join(problems...)
}

// read has the operator read the applications, all at once, so that what is shown next is what the service shows now.
// It returns the Mandates of which that is so, and what keeps the others from it.
func (o *order) read(
	ctx context.Context, c *cluster, mandates []v1alpha1.Mandate,
) (shown []v1alpha1.Mandate, problems []error) {
	limited, cancel := o.withTimeout(ctx)
	defer cancel()
	requests := make([]*refreshRequest, len(mandates))
	for i := range mandates {
		if mandates[i].Status.Outcome == "" {
			requests[i] = c.requestRefresh(limited, refreshableMandate(&mandates[i]))
		}
	}
	for i, request := range requests {
		var err error
		if request != nil {
			err = c.awaitTogether(ctx, limited, request)
		}
		switch {
		case err == nil:
			shown = append(shown, mandates[i])
			continue
		case apierrors.IsNotFound(err): // it was deleted since it was listed
			err = &exitError{exitNotReached, err}
		default:
			err = fmt.Errorf("%w\nIt was not changed. With --refresh=false, the command uses what the status shows", err)
		}
		if problems = append(problems, err); ctx.Err() != nil {
			return nil, problems
		}
	}
	return shown, problems
}

// awaitTogether is awaitRefresh within a time that several requests share. One that is handled while another one takes
// all of it is seen as well.
func (c *cluster) awaitTogether(ctx, limited context.Context, request *refreshRequest) error {
	err := c.awaitRefresh(limited, request)
	if limited.Err() == nil || ctx.Err() != nil || c.readAgain(ctx, request.Object) != nil {
		return err
	}
	if handled, obstacle := c.isHandled(ctx, request); handled || obstacle != nil {
		return obstacle
	}
	return err
}

// proposals shows the checks of each Mandate, and says what to set, or why nothing can be set.
func (o *order) proposals(mandates []v1alpha1.Mandate, isDry bool) (proposals []*proposal, problems []error) {
	for i := range mandates {
		m := &mandates[i]
		o.showChecks(m)
		p, err := o.proposal(m, isDry)
		switch {
		case err != nil:
			problems = append(problems, &exitError{exitNotReached, err})
		case p.isSet:
			fmt.Fprintf(o.ErrOut, "The Mandate %s has this %s already. Nothing was changed.\n", m.Name, o.field)
		default:
			proposals = append(proposals, p)
		}
	}
	return proposals, problems
}

func (o *order) proposal(m *v1alpha1.Mandate, isDry bool) (*proposal, error) {
	if m.Status.Outcome != "" {
		return nil, fmt.Errorf("the Mandate %s has the outcome %s already; nothing was changed", m.Name, m.Status.Outcome)
	}
	p, err := o.propose(printableCopy(m))
	if err != nil {
		return nil, err
	}
	p.mandate = m
	if reason := gitOpsWarning(m, o.field); reason != "" && !p.isSet && !isDry {
		text, asYAML := &bytes.Buffer{}, outputFlag{format: "yaml"}
		err := asYAML.printTo(text, false, o.manifest(p))
		return nil, errors.Join(fmt.Errorf("the Mandate %s: %s Nothing was changed. Commit this:\n%s",
			m.Name, reason, strings.TrimSpace(text.String())), err)
	}
	return p, nil
}

// showChecks shows what a person decides on.
func (o *order) showChecks(m *v1alpha1.Mandate) {
	p, v := newPrinter(o.ErrOut), newView(facts{mandate: m})
	p.line(p.styled(bold, "Mandate "+v.Namespace+"/"+v.Name), "  ",
		fields("state ", v.State, "checks passed ", v.Progress, "evidence ", v.Evidence))
	var individuals []node
	for i := range v.Individuals {
		individuals = append(individuals, individualNode(p, &v.Individuals[i]))
	}
	p.children("", individuals)
	fmt.Fprint(o.ErrOut, p.String())
}

func (o *order) confirmAll(ctx context.Context, proposals []*proposal) error {
	var questions []string
	for _, p := range proposals {
		questions = append(questions, p.question)
	}
	return o.confirm(ctx, strings.Join(questions, "\n")+" This cannot be undone.")
}

// manifest has what a proposal sets, and nothing else.
func (o *order) manifest(p *proposal) printed {
	return printed{view: manifestOf(p.mandate, map[string]any{o.field: p.value})}
}

func (o *order) apply(ctx context.Context, c *cluster, p *proposal, isDry bool) error {
	how := "Set"
	if isDry {
		how = "Would set"
	} else if err := c.setIfUnchanged(ctx, p); err != nil {
		return err
	}
	out := o.text()
	fmt.Fprintf(out, "%s %s.\n", how, p.text)
	if !isDry {
		fmt.Fprintln(out, p.next)
	}
	return nil
}

// setIfUnchanged sets what was confirmed, unless the Mandate shows something else by now. What the operator writes
// besides, such as the time of a read, is nothing else.
func (c *cluster) setIfUnchanged(ctx context.Context, p *proposal) error {
	m := p.mandate
	for {
		err := c.changeMandate(ctx, m, func(changed *v1alpha1.Mandate) { p.set(&changed.Spec) })
		if !apierrors.IsConflict(err) {
			return err
		}
		if m, err = c.mandate(ctx, m.Name); err != nil {
			return err
		}
		if !isAsShown(p.mandate, m) {
			return &exitError{exitNotReached, fmt.Errorf("the Mandate %s has changed since its checks were shown; nothing was "+
				"changed. Repeat the command, and look at the checks again", m.Name)}
		}
	}
}

// isAsShown reports whether a person who saw one state of a Mandate would see the same in another one.
func isAsShown(shown, now *v1alpha1.Mandate) bool {
	return shown.UID == now.UID && shown.Generation == now.Generation && shown.Status.State == now.Status.State &&
		shown.Status.Outcome == now.Status.Outcome && shown.Status.Evidence == now.Status.Evidence &&
		equality.Semantic.DeepEqual(shown.Status.Individuals, now.Status.Individuals)
}
