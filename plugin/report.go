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
)

// reportKey of the Secret has the file.
const reportKey = "report"

func (s *session) reportCommand() *cobra.Command {
	file, timeout := "", time.Duration(0)
	command := &cobra.Command{
		Use:   "report NAME INDIVIDUAL",
		Short: "Download the report on an individual into a Secret, and into a file",
		Long: "Download the report on an individual of a Mandate into a Secret. The command creates a MandateAction and " +
			"waits for its result. With --output, it also writes the report to a new file that only you can read. The report " +
			"is personal data: when you have it, delete the MandateAction, which also deletes the Secret. The command " +
			"e-mails nobody.",
		Example:           "  kubectl mandate report -n onboarding acme director --output director.pdf",
		Args:              exactArgs(2),
		ValidArgsFunction: s.completeMandates(true),
		RunE: func(command *cobra.Command, arguments []string) error {
			c, err := s.cluster()
			if err != nil {
				return err
			}
			if err := c.individual(command.Context(), arguments[0], arguments[1]); err != nil {
				return err
			}
			// Before the download: a file that exists must not cost another one.
			target, err := newFile(file)
			if err != nil {
				return err
			}
			ctx, cancel := withTimeout(command.Context(), timeout)
			defer cancel()
			err = s.download(ctx, c, arguments[0], arguments[1], target)
			if target != nil && err != nil {
				_ = os.Remove(target.Name()) // it is empty
			}
			return err
		},
	}
	command.Flags().StringVarP(&file, "output", "o", "", "Write the report to this new file. Default: the Secret only.")
	_ = command.MarkFlagFilename("output") // the flag exists
	addTimeout(command, &timeout, 5*time.Minute)
	return command
}

// newFile creates a file that only its owner can read; nil if there is no name.
func newFile(name string) (*os.File, error) {
	if name == "" {
		return nil, nil //nolint:nilnil // no file is wanted
	}
	file, err := os.OpenFile(name, os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o600)
	if errors.Is(err, fs.ErrExist) {
		return nil, usageError("--output %s: the file exists; delete it, or choose another name", name)
	}
	return file, err
}

func (s *session) download(ctx context.Context, c *cluster, mandate, individual string, target *os.File) error {
	action := newAction(c.namespace, mandate, individual, v1alpha1.MandateActionDownloadReport)
	action.Spec.ReportSecretRef = &v1alpha1.SecretReference{Name: action.Name}
	action, err := s.carryOut(ctx, c, action)
	if err != nil {
		return err
	}
	remove := fmt.Sprintf("kubectl delete mandateaction -n %s %s", action.Namespace, action.Name)
	if target == nil {
		fmt.Fprintf(s.Out, "The report is in the Secret %s, key %s. When you have it, delete it: %s\n",
			action.Name, reportKey, remove)
		return nil
	}
	stored := &corev1.Secret{}
	if err := c.poll(ctx, func(ctx context.Context) (bool, error) {
		err := c.Get(ctx, c.key(action.Name), stored)
		return err == nil, err
	}, func() string { return "the Secret could not be read" }); err != nil {
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
	fmt.Fprintf(s.Out, "Wrote %d bytes (%s) to %s. Now delete the Secret: %s\n",
		len(stored.Data[reportKey]), stored.Data["content_type"], target.Name(), remove)
	return nil
}
