package docs

import (
	"os"
	"path/filepath"
	"strconv"
	"time"

	"github.com/spf13/cobra"

	"github.com/luaccm/ccm/cmd/ccm/cli"
	"github.com/luaccm/ccm/runtime/host"
	"github.com/luaccm/ccm/site"
)

// writeMan writes a manual page for every command to a directory.
func writeMan(e *cli.Env, root *cobra.Command, dir string) error {
	h := cli.Machine(e)
	if err := h.SaveDirectory(dir); err != nil {
		return err
	}
	reg, err := site.Documented()
	if err != nil {
		return err
	}
	site.AddShipped(reg)
	for _, cmd := range root.Commands() {
		if err := cli.DescribeTypes(cmd, reg); err != nil {
			return err
		}
	}
	root.Use = root.Name() + " COMMAND"
	return writePages(h, root, manDate(e), dir)
}

// writePages writes the manual pages of a command and its subcommands: ccm-run.1 is the page of ccm
// run.
func writePages(h *host.Host, cmd *cobra.Command, date time.Time, dir string) error {
	for _, c := range documentedBelow(cmd) {
		if err := writePages(h, c, date, dir); err != nil {
			return err
		}
	}
	return h.Save(filepath.Join(dir, manName(cmd)+".1"), manPage(cmd, date), 0o644)
}

// manDate returns the date of the pages: SOURCE_DATE_EPOCH (reproducible-builds.org), else the time
// of the commit that was built, else now.
func manDate(e *cli.Env) time.Time {
	if sec, err := strconv.ParseInt(os.Getenv("SOURCE_DATE_EPOCH"), 10, 64); err == nil {
		return time.Unix(sec, 0).UTC()
	}
	if at := e.Build.Built(); !at.IsZero() {
		return at
	}
	return e.Clock.Now().UTC()
}
