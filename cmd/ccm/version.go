package main

import (
	"runtime"
	"runtime/debug"
	"strings"

	"github.com/spf13/cobra"
	lua "github.com/yuin/gopher-lua"

	"github.com/luaccm/ccm/cmd/ccm/cli"
	"github.com/luaccm/ccm/cmd/ccm/docs"
	"github.com/luaccm/ccm/runtime/secret"
	"github.com/luaccm/ccm/runtime/terminal"
	"github.com/luaccm/ccm/site"
)

// Set at build time (-ldflags -X main.version=...). Without commit, the build information of the Go
// command is used.
var (
	version    = ""
	commit     = ""
	commitTime = "" // as RFC 3339
)

func readBuildInfo() cli.BuildInfo {
	b := cli.BuildInfo{Version: version, Commit: commit, Time: commitTime, Go: runtime.Version(), System: runtime.GOOS + "/" + runtime.GOARCH}
	info, ok := debug.ReadBuildInfo()
	if !ok {
		return b
	}
	if b.Version == "" {
		b.Version = info.Main.Version
	}
	for _, s := range info.Settings {
		if commit != "" {
			break
		}
		switch s.Key {
		case "vcs.revision":
			b.Commit = s.Value
		case "vcs.time":
			b.Time = s.Value
		case "vcs.modified":
			b.Modified = s.Value == "true"
		}
	}
	return b
}

// features tells programs what a binary can do, before they rely on that.
type features struct {
	Lua     string              `json:"lua"`     // version of the language
	Types   map[string][]string `json:"types"`   // resource types, with the names of their providers
	Schemas []string            `json:"schemas"` // the schemas that ccm docs --schema prints
}

func readFeatures() (features, error) {
	reg, err := site.NewRegistry(new(site.TemplateEnv))
	if err != nil {
		return features{}, err
	}
	site.AddShipped(reg)
	f := features{Lua: strings.TrimPrefix(lua.LuaVersion, "Lua "), Types: make(map[string][]string), Schemas: docs.Schemas}
	for _, t := range reg.Types() {
		f.Types[t.Name] = reg.ProviderNames(t)
	}
	return f, nil
}

func newVersionCommand(e *cli.Env) *cobra.Command {
	output := cli.NewChoice("text", "text", "json")
	cmd := &cobra.Command{
		Use: "version", Short: "Print the version and features",
		Long: `Print the version and features. Read-only.

  ccm version --output json

JSON has version, commit, time (of the commit), go, system, and features: lua (the
language version), types (each with its providers), and schemas (see ccm docs --schema).`,
		Args: cli.WantArguments(0, 0),
		RunE: func(cmd *cobra.Command, _ []string) error {
			b := e.Build
			if output.Value == "json" {
				f, err := readFeatures()
				if err != nil {
					return err
				}
				return secret.NewEncoder(e.Stdout, nil).Encode(struct {
					cli.BuildInfo
					Features features `json:"features"`
				}{b, f})
			}
			_, err := terminal.Fprintf(e.Stdout, "ccm %s (%s)\n", b.Version, b.Go)
			return err
		},
	}
	cmd.Flags().Var(output, "output", "output format: text or json")
	return cmd
}
