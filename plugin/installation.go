package plugin

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	authorizationv1 "k8s.io/api/authorization/v1"
	coordinationv1 "k8s.io/api/coordination/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/mandate-io/idv/api/v1alpha1"
	"github.com/mandate-io/idv/internal/printable"
)

// groupName is that of our kinds. The names of our policies, and that of the leader's Lease, end with it.
var groupName = v1alpha1.SchemeGroupVersion.Group

// leaseName is the default of the operator's flag --leader-election-id.
var leaseName = operatorName + "." + groupName

// unreadPart is a part that could not be read.
func unreadPart(name string, err error) part {
	if apierrors.IsForbidden(err) {
		return part{Name: name, Result: partUnknown, Detail: "you may not read this"}
	}
	return part{Name: name, Result: partUnknown, Detail: apiError{err}.Error()}
}

// policyPart looks for the policy that is on by default, and names the others.
func (c *cluster) policyPart(ctx context.Context) part {
	p := part{Name: "admission policies", Result: partWorks}
	bindings := &metav1.PartialObjectMetadataList{}
	bindings.SetGroupVersionKind(schema.GroupVersionKind{
		Group: "admissionregistration.k8s.io", Version: "v1", Kind: "ValidatingAdmissionPolicyBindingList",
	})
	if err := c.List(ctx, bindings); err != nil {
		return unreadPart(p.Name, err)
	}
	var found []string
	for i := range bindings.Items {
		if name, ours := strings.CutSuffix(bindings.Items[i].Name, "."+groupName); ours {
			found = append(found, printable.Text(name))
		}
	}
	p.Detail = fmt.Sprintf("%d bound: %s", len(found), strings.Join(found, ", "))
	if !slices.Contains(found, "record") {
		p.Result = partFails
		p.Next = "apply config/admission: without it, who may write in a namespace can forge records and statuses"
	}
	return p
}

// operatorParts are the Deployments of the operators and of their receivers, and the leaders.
func (c *cluster) operatorParts(ctx context.Context, version string) []part {
	operators, err := c.deployments(ctx, "", operatorName)
	if err != nil {
		return []part{unreadPart("operator", err)}
	}
	if len(operators) == 0 {
		return []part{{
			Name: "operator", Result: partFails, Detail: "no Deployment has the label " + operatorPods,
			Next: "install the operator, as docs/install.md shows",
		}}
	}
	var parts []part
	for i := range operators {
		o := &operators[i]
		p := deploymentPart("operator", operatorName, o)
		other := o.Version != "" && !strings.Contains(version, " dev ") && !strings.Contains(version, " "+o.Version+" ")
		if other && p.Result == partWorks {
			p.Result, p.Next = partFails, "install the plugin of this version: yours is "+version
		}
		parts = append(parts, p, c.leaderPart(ctx, o.Namespace))
	}
	const receiver = operatorName + "-receiver"
	receivers, err := c.deployments(ctx, "", receiver)
	if err != nil {
		return append(parts, unreadPart("receiver", err))
	}
	for i := range receivers {
		parts = append(parts, deploymentPart("receiver", receiver, &receivers[i]))
	}
	return parts
}

func deploymentPart(name, label string, d *deployment) part {
	p := part{
		Name: name + " in " + d.Namespace, Result: partWorks,
		Detail: fmt.Sprintf("%s, %s ready", cmp.Or(d.Version, d.Image), plural(d.Ready, "replica")),
	}
	if d.Ready == 0 {
		p.Result = partFails
		p.Next = fmt.Sprintf("kubectl describe pods -n %s -l %s=%s", d.Namespace, operatorLabel, label)
	}
	return p
}

// leaderPart looks at the Lease of the replica that works.
func (c *cluster) leaderPart(ctx context.Context, namespace string) part {
	p := part{Name: "leader in " + namespace, Result: partWorks}
	lease := &coordinationv1.Lease{}
	err := c.Get(ctx, client.ObjectKey{Namespace: namespace, Name: leaseName}, lease)
	switch spec := &lease.Spec; {
	case apierrors.IsNotFound(err):
		p.Result, p.Detail = partUnknown, "no Lease "+leaseName+": it may have another name"
	case err != nil:
		return unreadPart(p.Name, err)
	case spec.HolderIdentity == nil || *spec.HolderIdentity == "" || spec.RenewTime == nil:
		p.Result, p.Detail = partFails, "no replica leads"
	default:
		p.Detail = fmt.Sprintf("%s, renewed %s ago", printable.Text(*spec.HolderIdentity), c.now.age(spec.RenewTime.Time))
		if c.now().Sub(spec.RenewTime.Time) > time.Minute { // four times as long as a leader may be silent
			p.Result = partFails
		}
	}
	if p.Result == partFails {
		p.Next = fmt.Sprintf("kubectl logs -n %s -l %s --tail=20", namespace, operatorPods)
	}
	return p
}

// permissionPart says what the user may do in the namespace.
func (c *cluster) permissionPart(ctx context.Context) part {
	p := part{Name: "your permissions", Result: partWorks}
	var may, mayNot []string
	for _, asked := range []struct{ verb, resource string }{
		{"get", "mandates"}, {"watch", "mandates"}, {"patch", "mandates"}, {"create", "mandateactions"},
		{"decide", "mandates"}, {"adopt", "mandates"},
	} {
		allowed, err := c.may(ctx, authorizationv1.ResourceAttributes{
			Namespace: c.namespace, Group: groupName, Resource: asked.resource, Verb: asked.verb,
		})
		if err != nil {
			return unreadPart(p.Name, err)
		}
		if text := asked.verb + " " + asked.resource; allowed {
			may = append(may, text)
		} else {
			mayNot = append(mayNot, text)
		}
	}
	p.Detail = fmt.Sprintf("in %s, you may %s", c.namespace, cmp.Or(strings.Join(may, ", "), "nothing"))
	if len(mayNot) > 0 {
		p.Detail += "; not " + strings.Join(mayNot, ", ")
	}
	if len(may) == 0 {
		p.Result, p.Next = partFails, "ask for the ClusterRole idv-viewer or idv-editor in this namespace"
	}
	return p
}

// may reports whether the user may do something.
func (c *cluster) may(ctx context.Context, what authorizationv1.ResourceAttributes) (bool, error) {
	review := &authorizationv1.SelfSubjectAccessReview{}
	review.Spec.ResourceAttributes = &what
	err := c.Create(ctx, review)
	return review.Status.Allowed, err
}

// connectionParts are the connections in the namespace, and those that are in none.
func (c *cluster) connectionParts(ctx context.Context) []part {
	var parts []part
	for kind, list := range map[string]client.ObjectList{
		kindService: &v1alpha1.IdentityServiceList{}, kindClusterService: &v1alpha1.ClusterIdentityServiceList{},
	} {
		err := c.each(ctx, list, func(object client.Object) {
			parts = append(parts, connectionPart(printableCopy(object.(service)))) //nolint:forcetypeassert // as listed
		}, client.InNamespace(c.namespace))
		if err != nil {
			parts = append(parts, unreadPart(kind+"s", err))
		}
	}
	slices.SortFunc(parts, func(a, b part) int { return cmp.Compare(a.Name, b.Name) })
	return parts
}

func connectionPart(s service) part {
	ready := viewOf(s.ServiceStatus().Conditions, v1alpha1.ConditionReady)
	p := part{Name: kindOf(s) + " " + s.GetName(), Result: partWorks}
	p.Detail = "Ready=" + ready.Status + ", " + ready.Reason
	switch {
	case ready.Status == "":
		p.Detail = "the operator has not seen it"
		p.Result, p.Next = partFails, findOperator
	case ready.Status != string(metav1.ConditionTrue):
		p.Result, p.Next = partFails, "kubectl mandate explain "+ready.Reason
	}
	return p
}
