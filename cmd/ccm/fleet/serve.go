package fleet

import (
	"bufio"

	"github.com/spf13/cobra"

	"github.com/luaccm/ccm/cmd/ccm/cli"
	"github.com/luaccm/ccm/cmd/ccm/cli/fleetdir"
	"github.com/luaccm/ccm/fleet/web"
	"github.com/luaccm/ccm/runtime/terminal"
)

func newServeCommand(e *cli.Env, f *fleetdir.Flags) *cobra.Command {
	listen, origin := "127.0.0.1:0", ""
	cmd := &cobra.Command{
		Use:   "serve",
		Short: "Show how a fleet is in the browser",
		Long: `Show how a fleet is in the browser: all of it, one node with its runs and
differences, the rollout of an environment, one failure across nodes. It only
reads, and does so as whoever runs it.

The page is on this machine only. Its address is printed; it is good once and for
two minutes. Enter prints a new one. Behind a proxy of your own, which keeps the
Host of requests (proxy_set_header Host $http_host; in nginx), and --listen with a
port of your choice, --origin https://ccm.example.net says how browsers name it.
Whoever reaches the proxy needs the printed address all the same.`,
		Args: cli.WantArguments(0, 0),
		RunE: func(cmd *cobra.Command, _ []string) error {
			d, err := f.Desk(e)
			if err != nil {
				return err
			}
			defer d.Cluster.Close()
			s, err := web.Open(d, listen, origin)
			if err != nil {
				return err
			}
			ctx, cancel := e.UntilStopped(cmd.Context())
			defer cancel()
			terminal.Fprintf(e.Stdout, "%s\n", s.Address())
			_ = e.Stdout.Flush() // a failed write is reported at the end
			if terminal.IsTerminal(e.Stdin) {
				go func() { // ends with the process
					for lines := bufio.NewScanner(e.Stdin); lines.Scan(); {
						terminal.Fprintf(e.Stdout, "%s\n", s.Address())
						_ = e.Stdout.Flush()
					}
				}()
			}
			return s.Serve(ctx)
		},
	}
	cmd.Flags().StringVar(&listen, "listen", listen, "serve the page on this `ADDRESS` of this machine; port 0 takes a free one")
	cmd.Flags().StringVar(&origin, "origin", "", "the page as browsers name it behind a proxy: `URL`")
	return cmd
}
