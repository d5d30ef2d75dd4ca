package main

import (
	"runtime/debug"

	"github.com/spf13/cobra"

	"github.com/luaccm/ccm/runtime/secret"
	"github.com/luaccm/ccm/runtime/terminal"
)

// version is set at build time (-ldflags -X main.version=...).
var version = ""

// buildInfo is what a binary knows about itself.
type buildInfo struct {
	Version  string `json:"version"`
	Go       string `json:"go"`
	Revision string `json:"revision,omitempty"`
	Time     string `json:"time,omitempty"`
	Modified bool   `json:"modified,omitempty"`
}

func readBuildInfo() buildInfo {
	b := buildInfo{Version: version}
	info, ok := debug.ReadBuildInfo()
	if !ok {
		return b
	}
	b.Go = info.GoVersion
	if b.Version == "" {
		b.Version = info.Main.Version
	}
	for _, s := range info.Settings {
		switch s.Key {
		case "vcs.revision":
			b.Revision = s.Value
		case "vcs.time":
			b.Time = s.Value
		case "vcs.modified":
			b.Modified = s.Value == "true"
		}
	}
	return b
}

func newVersionCommand(e *env) *cobra.Command {
	output := newChoice("text", "text", "json")
	cmd := &cobra.Command{
		Use: "version", Short: "Print the version", Args: wantArguments(0, 0),
		RunE: func(cmd *cobra.Command, _ []string) error {
			b := readBuildInfo()
			if output.value == "json" {
				return secret.NewEncoder(e.stdout, nil).Encode(b)
			}
			_, err := terminal.Fprintf(e.stdout, "ccm %s (%s)\n", b.Version, b.Go)
			return err
		},
	}
	cmd.Flags().Var(output, "output", "form of the output: text or json")
	return cmd
}
