package plugin

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/util/sets"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/mandate-io/idv/operator/plan"
)

// planOptions are the flags of plan.
type planOptions struct {
	files     []string
	kustomize string
	recursive bool
	from, to  string // Git revisions
	prune     bool
	dryRun    string
}

func (s *session) planCommand() *cobra.Command {
	o := &planOptions{}
	command := &cobra.Command{
		Use:   "plan (-f FILE | -k DIR)",
		Short: "Show what the operator would send after a change",
		Long: "Show, for each Mandate and MandateAction of the manifests, what the operator would send once they are " +
			"applied: how many people it would e-mail, and why. The plan only reads. It runs the operator's own rules on " +
			"the cluster with the change applied in memory. It reads no Secrets and asks no service, so what only these " +
			"know is listed as unknown.\n\n" +
			"Exit statuses: 0 nothing would be sent, 2 something would be sent, 1 an error.",
		Example: "  kubectl mandate plan -f onboarding -R\n" +
			"  kustomize build overlays/production | kubectl mandate plan -f -\n" +
			"  kubectl mandate plan -k overlays/production --from origin/main -o markdown",
		Args: func(command *cobra.Command, arguments []string) error {
			return cmp.Or(exactArgs(0)(command, arguments), o.validate())
		},
		RunE: s.onCluster(func(ctx context.Context, c *cluster, _ []string) error {
			selector, err := labels.Parse(s.selector)
			if err != nil {
				return fmt.Errorf("--selector %q: %w", s.selector, err)
			}
			made, err := c.makePlan(ctx, o, selector)
			if err != nil {
				return explainError(err)
			}
			if err := s.printPlan(made); err != nil {
				return err
			}
			if made.Sends {
				return &exitError{code: exitWouldSend}
			}
			return nil
		}),
	}
	flags := command.Flags()
	flags.StringArrayVarP(&o.files, "filename", "f", nil,
		"File or directory of manifests, or - for the standard input; may be repeated.")
	flags.BoolVarP(&o.recursive, "recursive", "R", false, "Read directories with all below. Default: false.")
	flags.StringVarP(&o.kustomize, "kustomize", "k", "", "Directory of a kustomization. Default: none.")
	flags.StringVar(&o.from, "from", "",
		"Git revision before the change: what it has and the change has not would be deleted. Default: none.")
	flags.StringVar(&o.to, "to", "", "Git revision with the change. Default: the files as they are.")
	flags.BoolVar(&o.prune, "prune", false,
		"Plan the deletion of what the manifests do not have of their namespaces. Default: false.")
	flags.StringVarP(&s.selector, "selector", "l", "", "Labels of what --prune deletes. Default: all.")
	flags.StringVar(&o.dryRun, "dry-run", "none",
		"With server, have the API server check each manifest, which needs permission to apply it. Default: none.")
	s.addOutput(command, "markdown")
	return command
}

func (o *planOptions) validate() error {
	switch {
	case len(o.files) == 0 && o.kustomize == "":
		return fmt.Errorf("name the manifests with --filename or --kustomize")
	case len(o.files) > 0 && o.kustomize != "":
		return fmt.Errorf("use either --filename or --kustomize")
	case o.from == "" && o.to == "":
	case slices.Contains(o.files, "-"):
		return fmt.Errorf("--from and --to read files: the standard input is no file")
	}
	if !slices.Contains([]string{"none", "server"}, o.dryRun) {
		return fmt.Errorf("--dry-run %q: use none or server", o.dryRun)
	}
	return nil
}

// makePlan reads the manifests and the cluster, and plans.
func (c *cluster) makePlan(ctx context.Context, o *planOptions, selector labels.Selector) (*plan.Plan, error) {
	read := manifestReader{c, o}
	manifests, earlier, err := read.revisions(ctx)
	if err != nil {
		return nil, err
	}
	input := plan.Input{Manifests: manifests, Now: time.Now()}
	seen, err := c.readForPlan(ctx, namespacesOf(manifests, earlier), manifests)
	if err != nil {
		return nil, err
	}
	input.Cluster, input.Unknown = seen.objects, seen.unknown
	input.Pruned = prunedBy(o.prune, selector, seen.objects, manifests, earlier)
	if o.dryRun == "server" {
		if err := c.dryRun(ctx, input.Manifests, seen.objects); err != nil {
			return nil, err
		}
	}
	return plan.Make(ctx, input)
}

// prunedBy are the objects of the cluster that a tool would delete: those of the earlier manifests, or all, that the
// manifests do not have.
func prunedBy(
	all bool, selector labels.Selector, cluster []client.Object, manifests, earlier []plan.Manifest,
) (pruned []plan.ObjectKey) {
	kept, before := keysOf(manifests), keysOf(earlier)
	for _, object := range cluster {
		key := plan.KeyOf(object)
		selected := all && (key.Kind == kindMandate || key.Kind == kindAction) &&
			selector.Matches(labels.Set(object.GetLabels()))
		if isPrunable(object) && (selected || before.Has(key)) && !kept.Has(key) {
			pruned = append(pruned, key)
		}
	}
	slices.SortFunc(pruned, func(a, b plan.ObjectKey) int { return cmp.Compare(a.String(), b.String()) })
	return pruned
}

func keysOf(manifests []plan.Manifest) sets.Set[plan.ObjectKey] {
	keys := sets.Set[plan.ObjectKey]{}
	for i := range manifests {
		keys.Insert(manifests[i].KeyOf())
	}
	return keys
}

// dryRun has the API server say what it makes of each manifest.
func (c *cluster) dryRun(ctx context.Context, manifests []plan.Manifest, objects []client.Object) error {
	stored := map[plan.ObjectKey]client.Object{}
	for _, object := range objects {
		stored[plan.KeyOf(object)] = object
	}
	for i := range manifests {
		manifest := &manifests[i]
		if planned, _ := plan.IsPlanned(manifest.Object); !planned {
			continue
		}
		merged := manifest.Object.DeepCopy()
		owner := plan.AuthorOf(stored[manifest.KeyOf()])
		err := c.Apply(ctx, client.ApplyConfigurationFromUnstructured(merged), client.DryRunAll, client.ForceOwnership,
			client.FieldOwner(owner))
		switch {
		case err != nil && (!isRefused(err) || lacksRole(err)):
			return err
		case err != nil:
			manifest.Refused = plan.RefusalOf(err)
		default:
			manifest.Merged = merged
		}
	}
	return nil
}

// lacksRole tells a user who may not apply an object from an admission that refuses it: both are Forbidden.
func lacksRole(err error) bool {
	return apierrors.IsForbidden(err) && strings.Contains(err.Error(), " cannot patch resource ")
}

// isPrunable reports whether a GitOps tool may delete an object.
func isPrunable(object client.Object) bool {
	annotations := object.GetAnnotations()
	options := strings.Split(annotations["argocd.argoproj.io/sync-options"], ",")
	return annotations["kustomize.toolkit.fluxcd.io/prune"] != "disabled" &&
		!slices.ContainsFunc(options, func(o string) bool { return strings.TrimSpace(o) == "Prune=false" })
}

func (s *session) printPlan(made *plan.Plan) error {
	return s.show(false, []printed{{kind: "Plan", name: "plan", view: made}}, func(p *printer) {
		if s.output.format == "markdown" {
			p.WriteString(markdownOf(made))
		} else {
			p.plan(made)
		}
	})
}
