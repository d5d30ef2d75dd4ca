package main

import (
	"os"
	"strconv"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/cobra/doc"
)

// writeMan writes a manual page for every command to a directory.
func (e *env) writeMan(root *cobra.Command, dir string) error {
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return err
	}
	for _, cmd := range root.Commands() {
		if err := describeTypes(cmd); err != nil {
			return err
		}
	}
	root.DisableAutoGenTag = true // the same program writes the same pages
	date := e.manDate()
	return doc.GenManTree(root, &doc.GenManHeader{Section: "1", Source: "ccm", Manual: "ccm", Date: &date}, dir)
}

// manDate returns the date of the pages: SOURCE_DATE_EPOCH
// (reproducible-builds.org), else when what was built was committed, else now.
func (e *env) manDate() time.Time {
	if sec, err := strconv.ParseInt(os.Getenv("SOURCE_DATE_EPOCH"), 10, 64); err == nil {
		return time.Unix(sec, 0).UTC()
	}
	if at, err := time.Parse(time.RFC3339, readBuildInfo().Time); err == nil {
		return at
	}
	return e.clock.Now().UTC()
}
