package plugin

import (
	"bytes"
	"context"
	"errors"
	"io"
	"strings"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/mandate-io/idv/api/v1alpha1"
)

func TestGitOpsWarning(t *testing.T) {
	flux := map[string]string{fluxLabel: "apps"}
	cases := map[string]struct {
		labels, annotations map[string]string
		managers            []string // of spec.decision
		want                string
	}{
		"nobody":                       {nil, nil, nil, ""},
		"a person with kubectl":        {nil, nil, []string{"kubectl-edit"}, ""},
		"the plugin itself":            {nil, nil, []string{fieldManager}, ""},
		"Flux without the field":       {flux, nil, nil, ""},
		"Flux with the field":          {flux, nil, []string{"kustomize-controller"}, "Flux applies this object"},
		"Argo CD with the field":       {nil, nil, []string{"argocd-controller"}, "Argo CD has set spec.decision"},
		"Argo CD without the field":    {nil, map[string]string{argoTracking: "x"}, nil, ""},
		"Argo CD on the client's side": {nil, map[string]string{argoTracking: "x"}, []string{"argocd"}, "Argo CD"},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			m := &v1alpha1.Mandate{ObjectMeta: metav1.ObjectMeta{Labels: c.labels, Annotations: c.annotations}}
			for _, manager := range c.managers {
				m.ManagedFields = append(m.ManagedFields, metav1.ManagedFieldsEntry{
					Manager:  manager,
					FieldsV1: metav1.NewFieldsV1(`{"f:metadata":{},"f:spec":{".":{},"f:decision":{}}}`),
				})
			}
			got := gitOpsWarning(m, "decision")
			if c.want == "" && got != "" || !strings.HasPrefix(got, c.want) {
				t.Errorf("%q, want %q", got, c.want)
			}
			if got := gitOpsWarning(m, "adopt"); len(c.labels) == 0 && got != "" {
				t.Errorf("of another field: %q", got)
			}
		})
	}
}

func TestAsk(t *testing.T) {
	answers := map[string]bool{"yes\n": true, "yes": true, "y\n": false, "no\n": false, "": false, "\n": false}
	for answer, want := range answers {
		out := &bytes.Buffer{}
		s := &session{Streams: Streams{In: strings.NewReader(answer), ErrOut: out}}
		if err := s.ask(t.Context(), "Do it?"); (err == nil) != want || !strings.HasPrefix(out.String(), "Do it?\nType yes") {
			t.Errorf("%q: %v, %q", answer, err, out)
		}
	}
	ctx, interrupt := context.WithCancel(t.Context())
	in, writer := io.Pipe() // nobody types anything
	defer writer.Close()
	s := &session{Streams: Streams{In: in, ErrOut: io.Discard}}
	interrupt()
	if exit, ok := errors.AsType[*exitError](s.ask(ctx, "Do it?")); !ok || exit.code != exitNotApproved {
		t.Errorf("after an interruption: %v", exit)
	}
}
