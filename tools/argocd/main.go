// Command argocd is the two servers of Argo CD that apply a repository, and a Redis for their cache. All of Argo CD
// would bring its web interface and the SDKs of all forges.
package main

import (
	"os"
	"os/signal"
	"path/filepath"
	"syscall"

	"github.com/alicebob/miniredis/v2"
	controller "github.com/argoproj/argo-cd/v3/cmd/argocd-application-controller/commands"
	reposerver "github.com/argoproj/argo-cd/v3/cmd/argocd-repo-server/commands"
	"github.com/argoproj/argo-cd/v3/util/askpass"
	"github.com/spf13/cobra"
)

func main() {
	// The default is one path for the whole machine.
	askpass.SocketPath = filepath.Join(os.TempDir(), "askpass.sock")
	command := &cobra.Command{Use: "argocd"}
	command.AddCommand(controller.NewCommand(), reposerver.NewCommand(), redis())
	if err := command.Execute(); err != nil {
		os.Exit(1)
	}
}

func redis() *cobra.Command {
	return &cobra.Command{
		Use: "redis ADDRESS", Short: "Run a Redis in memory", Args: cobra.ExactArgs(1),
		RunE: func(_ *cobra.Command, args []string) error {
			server := miniredis.NewMiniRedis()
			if err := server.StartAddr(args[0]); err != nil {
				return err
			}
			defer server.Close()
			stop := make(chan os.Signal, 1)
			signal.Notify(stop, os.Interrupt, syscall.SIGTERM)
			<-stop
			return nil
		},
	}
}
