// Package agent is ccm agent: it brings sites to this machine and runs them.
package agent

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"os/signal"
	"path/filepath"
	"strings"
	"syscall"

	"github.com/spf13/cobra"

	"github.com/luaccm/ccm/cmd/ccm/cli"
	"github.com/luaccm/ccm/fleet/agent"
	"github.com/luaccm/ccm/runtime/collector"
	"github.com/luaccm/ccm/runtime/diag"
)

// agentFlags are the flags of the command agent and its subcommands.
type agentFlags struct {
	config, context string
}

// Command returns ccm agent.
func Command(e *cli.Env) *cobra.Command {
	f := &agentFlags{}
	cmd := &cobra.Command{
		Use:   "agent",
		Short: "Run as a daemon: fetch and apply sites on a schedule and on changes",
		Long: `Run as a daemon: fetch sites and apply them on a schedule and when they change.
A configuration file sets what to run, and how often:

  interval: 5m
  sources:
    - https://config.example.org/web.tar.gz
    - {git: https://git.example.org/site.git, ref: main}

Each run is a separate process, like ccm run. The agent checks sources every 30
seconds and runs a changed one immediately. Without a network, it runs the last
version it fetched.

The first signal stops the agent after the current resource, the second
immediately. SIGHUP reloads the configuration.

The default of --config is ` + strings.Join(agent.ConfigFiles, ",\nor ") + `.`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error { return runAgent(cmd.Context(), e, f) },
	}
	cmd.PersistentFlags().StringVar(&f.config, "config", "", "read the configuration from `FILE`")
	cmd.Flags().StringVar(&f.context, "context", "", "nats CLI context `NAME` for kv:// and obj://, overriding --config")
	cmd.AddCommand(newEnrolCommand(e), newStatusCommand(e, f))
	return cmd
}

// readConfig reads the configuration of the agent.
func (f *agentFlags) readConfig(e *cli.Env) (*agent.Config, error) {
	file := f.config
	if file == "" {
		for _, name := range agent.ConfigFiles {
			if _, err := os.Lstat(name); !errors.Is(err, fs.ErrNotExist) {
				file = name
				break
			}
		}
	}
	if file == "" {
		return nil, diag.At(diag.Pos{}, diag.None("configuration: neither %s exists", strings.Join(agent.ConfigFiles, " nor "))).WithHint("set it with --config FILE")
	}
	file, err := filepath.Abs(file)
	if err != nil {
		return nil, err
	}
	text, err := e.Files.ReadFile(file)
	if err != nil {
		return nil, err
	}
	c, err := agent.ParseConfig(file, string(text))
	if err != nil {
		return nil, err
	}
	if f.context != "" {
		c.Context = f.context
	}
	c.AllowInsecure = c.AllowInsecure || e.Files.AllowInsecure
	return c, nil
}

// runAgent runs the agent until a signal ends it.
func runAgent(ctx context.Context, e *cli.Env, f *agentFlags) error {
	c, err := f.readConfig(e)
	if err != nil {
		return err
	}
	own, err := os.Executable()
	if err != nil {
		return err
	}
	// The agent runs for months and has little to do: memory matters more than processor time.
	collector.Stay(50)
	policy := e.Files.Trust()
	o := agent.Options{
		Config: c, Reload: func() (*agent.Config, error) { return f.readConfig(e) }, Executable: own,
		Version: e.Build.Version, Policy: policy, Log: newAgentLogger(e, c.LogLevel), Clock: e.Clock, Effect: e.Effect,
	}
	o.Fleet = func(f *agent.FleetConfig, a *agent.Agent) (agent.Fleet, error) {
		return newFleetNode(e, f, c.CacheDir, a, o)
	}
	a, err := agent.New(o)
	if err != nil {
		return err
	}
	hangup := make(chan os.Signal, 1)
	signal.Reset(syscall.SIGHUP) // main has it end commands; here it reloads the configuration
	signal.Notify(hangup, syscall.SIGHUP)
	defer signal.Stop(hangup)
	ended := make(chan struct{})
	defer close(ended)
	go func() {
		for {
			select {
			case <-hangup:
				a.Reload()
			case <-ended:
				return
			}
		}
	}()
	if err := a.Run(ctx, e.Stop); err != nil {
		return err
	}
	if ctx.Err() != nil {
		return cli.Status(cli.ExitInterrupted)
	}
	return nil
}
