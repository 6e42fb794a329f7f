package plugin

import (
	"fmt"
	"runtime"

	"github.com/spf13/cobra"
)

type versionInfo struct {
	Version  string `json:"version"`
	Go       string `json:"go"`
	Platform string `json:"platform"`
}

func versionCommand(s *session, version string) *cobra.Command {
	output := outputFlag{}
	command := &cobra.Command{
		Use:   "version",
		Short: "Print the version of the plugin",
		Args:  exactArgs(0),
		RunE: func(*cobra.Command, []string) error {
			info := versionInfo{version, runtime.Version(), runtime.GOOS + "/" + runtime.GOARCH}
			if output.structured() {
				return output.print(s.Out, info)
			}
			_, err := fmt.Fprintf(s.Out, "kubectl-mandate %s (%s, %s)\n", info.Version, info.Go, info.Platform)
			return err
		},
	}
	output.addTo(command, "json", "yaml")
	return command
}
