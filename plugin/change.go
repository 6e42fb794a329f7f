package plugin

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"maps"
	"os"
	"strings"

	"golang.org/x/term"
	authenticationv1 "k8s.io/api/authentication/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/mandate-io/idv/api/v1alpha1"
)

// changeMandate changes a Mandate in the user's name, and patches what differs. It fails if somebody else has changed
// the Mandate since: nobody decides on what they have not seen.
func (c *cluster) changeMandate(ctx context.Context, m *v1alpha1.Mandate, change func(*v1alpha1.Mandate)) error {
	changed := m.DeepCopy()
	change(changed)
	c.sign(ctx, changed)
	patch := client.MergeFromWithOptions(m, client.MergeFromWithOptimisticLock{})
	return explainWrite(c.Patch(ctx, changed, patch))
}

// confirm asks a person at a terminal. Without one, only --yes confirms.
func (s *session) confirm(ctx context.Context, question string) error {
	if s.yes {
		return nil
	}
	if !isTerminal(s.In) {
		return &exitError{exitNotApproved, fmt.Errorf(
			"this needs a confirmation, and without a terminal it cannot ask: %s Add --yes to confirm", question)}
	}
	return s.ask(ctx, question)
}

func (s *session) ask(ctx context.Context, question string) error {
	fmt.Fprintf(s.ErrOut, "%s\nType yes to continue: ", question)
	answer, err := unlessInterrupted(ctx, func() (string, error) { return bufio.NewReader(s.In).ReadString('\n') })
	if err != nil && answer == "" {
		fmt.Fprintln(s.ErrOut)
	}
	if strings.TrimSpace(answer) != "yes" {
		return &exitError{exitNotApproved, fmt.Errorf("not confirmed; nothing was changed")}
	}
	return nil
}

func isTerminal(in io.Reader) bool {
	file, ok := in.(*os.File)
	return ok && term.IsTerminal(int(file.Fd()))
}

// sign names the user as the author of what an object orders. Where the API server does not say who that is, nobody is
// named: what one user orders must not have the name of the one before.
func (c *cluster) sign(ctx context.Context, object client.Object) {
	annotations := map[string]string{}
	maps.Copy(annotations, object.GetAnnotations())
	delete(annotations, v1alpha1.RequestedByAnnotation)
	self := &authenticationv1.SelfSubjectReview{}
	if c.Create(ctx, self) == nil && self.Status.UserInfo.Username != "" {
		annotations[v1alpha1.RequestedByAnnotation] = self.Status.UserInfo.Username
	}
	object.SetAnnotations(annotations)
}
