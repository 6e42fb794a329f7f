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
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/types"
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
			"Exit statuses: 0 nothing would be sent, 2 something would be sent or may be, for Mandates that you may not " +
			"read, 1 an error.",
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
	read := manifestReader{cluster: c, options: o}
	manifests, earlier, err := read.revisions(ctx)
	if err != nil {
		return nil, err
	}
	input := plan.Input{Manifests: manifests, Now: time.Now()}
	own, others := namespacesOf(manifests, earlier)
	seen, err := c.readForPlan(ctx, own, others, manifests)
	if err != nil {
		return nil, err
	}
	input.Cluster = seen.objects
	input.Unknown, input.Unseen = seen.unknown, seen.unseen
	emptied := sets.Set[string]{}
	if o.prune {
		emptied = own
	}
	input.Pruned = prunedBy(emptied, selector, seen.objects, manifests, earlier)
	if o.dryRun == "server" {
		if err := c.dryRun(ctx, input.Manifests, seen.objects); err != nil {
			return nil, err
		}
	}
	return plan.Make(ctx, input)
}

// prunedBy are the objects of the cluster that a tool would delete: those of the earlier manifests, or all of some
// namespaces, that the manifests do not have.
func prunedBy(
	emptied sets.Set[string], selector labels.Selector, cluster []client.Object, manifests, earlier []plan.Manifest,
) (pruned []plan.ObjectKey) {
	kept, before := keysOf(manifests), keysOf(earlier)
	for _, object := range cluster {
		key := plan.KeyOf(object)
		selected := emptied.Has(key.Namespace) && (key.Kind == kindMandate || key.Kind == kindAction) &&
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
	made := keysOf(manifests)
	for i := range manifests {
		manifest := &manifests[i]
		if planned, _ := plan.IsPlanned(manifest.Object); !planned {
			continue
		}
		merged := manifest.Object.DeepCopy()
		switch err := c.dryRunOf(ctx, stored[manifest.KeyOf()], merged); {
		case err != nil && (!isRefused(err) && !isUntyped(err) || lacksRole(err)):
			return err
		case err != nil && made.Has(plan.MissingNamespace(err)): // a dry run makes none: this version's rules decide
		case err != nil:
			manifest.Refused = plan.RefusalOf(err)
		default:
			manifest.Merged = merged
		}
	}
	return nil
}

// dryRunOf has the API server make of a manifest what an apply makes of it. As with kubectl, a field that does not
// exist is an error: a warning of the API server would have its name, whatever that is.
func (c *cluster) dryRunOf(ctx context.Context, stored client.Object, manifest *unstructured.Unstructured) error {
	patch, err := plan.PatchOf(stored, manifest)
	if err != nil {
		return err
	}
	options := []client.PatchOption{
		client.DryRunAll, client.FieldOwner(plan.AuthorOf(stored)), client.FieldValidation(metav1.FieldValidationStrict),
	}
	if patch.Type() == types.ApplyPatchType {
		options = append(options, client.ForceOwnership)
	}
	return c.Patch(ctx, manifest, patch, options...)
}

// lacksRole tells a user who may not apply an object from an admission that refuses it: both are Forbidden.
func lacksRole(err error) bool {
	return apierrors.IsForbidden(err) && strings.Contains(err.Error(), " cannot patch resource ")
}

// isUntyped is for a manifest whose fields the API server does not know, or not with such values. It calls that an
// error of its own.
func isUntyped(err error) bool {
	return strings.Contains(err.Error(), "failed to create typed patch object")
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
