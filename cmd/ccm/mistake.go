package main

import (
	"github.com/spf13/cobra"

	"github.com/luaccm/ccm/cmd/ccm/cli"
	"github.com/luaccm/ccm/runtime/diag"
	"github.com/luaccm/ccm/runtime/secret"
)

const mistakeProtocol = "io.choria.ccm.v1.mistake"

// A mistake tells a program that reads events why ccm could not begin.
type mistake struct {
	Protocol string `json:"protocol"`
	File     string `json:"file,omitempty"`
	Line     int    `json:"line,omitempty"`
	Column   int    `json:"column,omitempty"`
	Subject  string `json:"subject,omitempty"`
	Message  string `json:"message"`
	Hint     string `json:"hint,omitempty"`
}

// reportsJSON reports whether a command has JSON as its output and tells mistakes in JSON, too.
func reportsJSON(cmd *cobra.Command) bool {
	f := cmd.Flag("output")
	return f != nil && f.Changed && f.Value.String() == "json" && cmd.Annotations[cli.TellsEvents] != ""
}

// explainJSON tells mistakes in the place of events, one object a line.
func explainJSON(e *cli.Env, err error) error {
	var list diag.List
	list.Add(err)
	enc := secret.NewEncoder(e.Stdout, nil)
	for _, d := range list {
		m := mistake{Protocol: mistakeProtocol, File: d.Pos.File, Line: d.Pos.Line, Column: d.Pos.Col, Subject: d.Subject, Message: d.Err.Error(), Hint: d.Hint}
		if err := enc.Encode(m); err != nil {
			return err
		}
	}
	return nil
}
