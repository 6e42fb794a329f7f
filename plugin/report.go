package plugin

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"time"

	"github.com/spf13/cobra"
	corev1 "k8s.io/api/core/v1"

	"github.com/mandate-io/idv/api/v1alpha1"
	"github.com/mandate-io/idv/internal/printable"
)

// reportKey of the Secret has the file.
const reportKey = "report"

func (s *session) reportCommand() *cobra.Command {
	file := ""
	command := &cobra.Command{
		Use:   "report NAME INDIVIDUAL",
		Short: "Download the report on an individual into a Secret, and into a file",
		Long: "Download the report on an individual of a Mandate into a Secret. The command creates a MandateAction and " +
			"waits for its result. With --file, it also writes the report to a new file that only you can read. The report " +
			"is personal data: when you have it, delete the MandateAction, which also deletes the Secret. The command " +
			"e-mails nobody.",
		Example:           "  kubectl mandate report -n onboarding acme director --file director.pdf",
		Args:              exactArgs(2),
		ValidArgsFunction: s.completeIn(1),
		RunE: s.onCluster(func(ctx context.Context, c *cluster, arguments []string) error {
			if _, err := c.mandateOf(ctx, arguments[0], arguments[1]); err != nil {
				return err
			}
			// Before the download: a file that exists must not cost another one.
			target, err := newFile(file)
			if err != nil {
				return err
			}
			ctx, cancel := s.withTimeout(ctx)
			defer cancel()
			err = c.download(ctx, arguments, target)
			if target != nil && err != nil {
				_ = os.Remove(target.Name()) // it is empty
			}
			return err
		}),
	}
	command.Flags().StringVarP(&file, "file", "f", "", "Write the report to this new file. Default: the Secret only.")
	_ = command.MarkFlagFilename("file") // the flag exists
	s.addOutput(command)
	addTimeout(command, 5*time.Minute)
	return command
}

// newFile creates a file that only its owner can read; nil if there is no name.
func newFile(name string) (*os.File, error) {
	switch name {
	case "":
		return nil, nil //nolint:nilnil // no file is wanted
	case "-":
		return nil, fmt.Errorf("--file -: the standard output is not supported, because others may read it; name a new file")
	}
	file, err := os.OpenFile(name, os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o600)
	if errors.Is(err, fs.ErrExist) {
		return nil, fmt.Errorf("--file %s: the file exists; delete it, or choose another name", name)
	}
	return file, err
}

// download downloads the report on an individual of a Mandate, the names of which are in arguments.
func (c *cluster) download(ctx context.Context, arguments []string, target *os.File) error {
	action := newAction(c.namespace, arguments[0], arguments[1], v1alpha1.MandateActionDownloadReport)
	action.Spec.ReportSecretRef = &v1alpha1.SecretReference{Name: action.Name}
	if err := c.carryOut(ctx, action); err != nil {
		return err
	}
	remove := fmt.Sprintf("kubectl delete mandateaction -n %s %s", action.Namespace, action.Name)
	if target == nil {
		fmt.Fprintf(c.text(), "The report is in the Secret %s, key %s. When you have it, delete it: %s\n",
			action.Name, reportKey, remove)
		return c.print(false, printedOf(action, newActionView(action)))
	}
	stored := &corev1.Secret{}
	stored.Namespace, stored.Name = c.namespace, action.Name
	if err := c.await(ctx, stored, func() (bool, error) { return true, nil }, func() string {
		return "the Secret could not be read"
	}); err != nil {
		_ = target.Close()
		return fmt.Errorf("the report is in the Secret %s: %w\nDo not download it again. With access to the Secret:\n  "+
			"kubectl get secret -n %s %s -o 'go-template={{.data.%s | base64decode}}' > FILE",
			action.Name, err, action.Namespace, action.Name, reportKey)
	}
	if _, err := target.Write(stored.Data[reportKey]); err != nil {
		_ = target.Close()
		return err
	}
	if err := target.Close(); err != nil {
		return err
	}
	fmt.Fprintf(c.text(), "Wrote %d bytes (%s) to %s. Now delete the Secret: %s\n",
		len(stored.Data[reportKey]), printable.Text(string(stored.Data["content_type"])), target.Name(), remove)
	return c.print(false, printedOf(action, newActionView(action)))
}
