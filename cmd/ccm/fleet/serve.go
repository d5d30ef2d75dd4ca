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
		Short: "Show a fleet in the browser",
		Long: `Show a fleet in the browser: an overview, nodes with their runs and differences,
rollouts, and failures across nodes. Read-only, with the permissions of whoever runs it.

  ccm fleet serve

The page is available on this machine only. Its printed address works once and expires
after two minutes. Press Enter to print a new one.

Behind a proxy, set --listen to a fixed port and --origin to the page's public address,
such as https://ccm.example.net. The proxy must keep the Host header, in nginx with
proxy_set_header Host $http_host; users still need the printed address.`,
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
			ctx, cancel := e.Stop.Context(cmd.Context())
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
	cmd.Flags().StringVar(&listen, "listen", listen, "local `ADDRESS` to listen on; port 0 uses a free one")
	cmd.Flags().StringVar(&origin, "origin", "", "public `URL` of the page behind a proxy")
	return cmd
}
