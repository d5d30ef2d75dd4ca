// Package http provides archives from HTTP and HTTPS servers, and from files.
package http

import (
	"github.com/luaccm/ccm/resources"
	"github.com/luaccm/ccm/runtime/diag"
	"github.com/luaccm/ccm/runtime/facts"
	"github.com/luaccm/ccm/runtime/host/unpack"
	"github.com/luaccm/ccm/runtime/resource"
)

// Providers returns what this package provides.
func Providers() []resource.Binding {
	return []resource.Binding{resources.ArchiveType.Provide("http", suits, archives{})}
}

// suits looks only at the archive: fetching and extracting need no tools on the machine.
func suits(_ *facts.Facts, want resources.Archive) (int, error) {
	u := want.URL.Parse()
	if u == nil {
		return 1, nil // the archive is only looked at or removed
	}
	if u.Scheme != "http" && u.Scheme != "https" {
		return 0, diag.Expected("an http or https URL").Got("%q", want.URL)
	}
	if unpack.FormatOf(u.Path) == "" {
		return 0, diag.Not("archive type", "supported: %w", diag.Expected("one of %s", unpack.Suffixes()))
	}
	return 1, nil
}
