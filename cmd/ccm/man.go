package main

import (
	"bytes"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/cobra/doc"
	"github.com/spf13/pflag"

	"github.com/luaccm/ccm/runtime/host"
	"github.com/luaccm/ccm/site"
)

// writeMan writes a manual page for every command to a directory.
func writeMan(e *env, root *cobra.Command, dir string) error {
	h := machine(e)
	if err := h.SaveDirectory(dir); err != nil {
		return err
	}
	reg, err := site.Documented()
	if err != nil {
		return err
	}
	site.AddShipped(reg)
	for _, cmd := range root.Commands() {
		if err := describeTypes(cmd, reg); err != nil {
			return err
		}
	}
	root.Use = root.Name() + " COMMAND"
	root.DisableAutoGenTag = true // the same program writes the same pages
	describeFlags(root, make(map[*pflag.Flag]bool))
	date := manDate(e)
	return writePages(h, root, doc.GenManHeader{Section: "1", Source: "ccm", Manual: "ccm", Date: &date}, dir)
}

// writePages writes the page of a command and those of the commands below it, under the names
// that doc.GenManTree gives them.
func writePages(h *host.Host, cmd *cobra.Command, header doc.GenManHeader, dir string) error {
	for _, c := range cmd.Commands() {
		if !c.IsAvailableCommand() || c.IsAdditionalHelpTopicCommand() {
			continue
		}
		if err := writePages(h, c, header, dir); err != nil {
			return err
		}
	}
	var page bytes.Buffer
	// GenMan reads Markdown, in which only what has four blanks before it keeps its lines.
	cmd.Long = strings.ReplaceAll(cmd.Long, "\n  ", "\n    ")
	if err := doc.GenMan(cmd, &header, &page); err != nil {
		return err
	}
	text := bytes.ReplaceAll(page.Bytes(), []byte("\\fP=\n"), []byte("\\fP\n")) // a flag without a value
	name := strings.ReplaceAll(cmd.CommandPath(), " ", "-") + "." + header.Section
	return h.Save(filepath.Join(dir, name), text, 0o644)
}

// describeFlags changes the flags of a command and those below it, so that a page shows of each what
// the help does: what its value is called, and the default at the end. GenMan shows the default
// in the place of the value, as in --help[=false].
func describeFlags(cmd *cobra.Command, done map[*pflag.Flag]bool) {
	cmd.InitDefaultHelpFlag()
	cmd.Flags().VisitAll(func(f *pflag.Flag) {
		if done[f] {
			return
		}
		done[f] = true
		value, usage := pflag.UnquoteUsage(f)
		switch f.DefValue {
		case "", "false", "0", "0s", "[]":
		default:
			usage += " (default " + f.DefValue + ")"
		}
		switch {
		case f.Value.Type() == "bool":
			f.NoOptDefVal = ""
		case value == "":
			value = f.NoOptDefVal
		}
		f.Usage, f.DefValue, f.Value = usage, value, bareValue{f.Value}
	})
	for _, sub := range cmd.Commands() {
		describeFlags(sub, done)
	}
}

// A bareValue is the value of a flag that is shown without quotes.
type bareValue struct{ pflag.Value }

// Type implements pflag.Value.
func (bareValue) Type() string { return "" }

// manDate returns the date of the pages: SOURCE_DATE_EPOCH
// (reproducible-builds.org), else when what was built was committed, else now.
func manDate(e *env) time.Time {
	if sec, err := strconv.ParseInt(os.Getenv("SOURCE_DATE_EPOCH"), 10, 64); err == nil {
		return time.Unix(sec, 0).UTC()
	}
	if at, err := time.Parse(time.RFC3339, readBuildInfo().Time); err == nil {
		return at
	}
	return e.Clock.Now().UTC()
}
