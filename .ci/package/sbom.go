package main

import (
	"debug/buildinfo"
	"fmt"
	"os"
	"runtime/debug"
	"strings"

	"github.com/CycloneDX/cyclonedx-go"
)

// writeSBOM writes the list of modules in a program as CycloneDX 1.6. The Go command has stored the list in the
// program, except for the program's own version.
func writeSBOM(program, version, file string) error {
	info, err := buildinfo.ReadFile(program)
	if err != nil {
		return fmt.Errorf("%s: %w", program, err)
	}
	info.Main.Version = "v" + version
	bom := cyclonedx.NewBOM()
	top := component(&info.Main, cyclonedx.ComponentTypeApplication)
	bom.Metadata = &cyclonedx.Metadata{Component: &top}
	parts := []cyclonedx.Component{component(&debug.Module{Path: "std", Version: "v" + strings.TrimPrefix(info.GoVersion, "go")}, cyclonedx.ComponentTypeLibrary)}
	var refs []string
	for _, m := range info.Deps {
		if m.Replace != nil {
			m = m.Replace
		}
		parts = append(parts, component(m, cyclonedx.ComponentTypeLibrary))
	}
	for _, c := range parts {
		refs = append(refs, c.BOMRef)
	}
	bom.Components = &parts
	bom.Dependencies = &[]cyclonedx.Dependency{{Ref: top.BOMRef, Dependencies: &refs}}
	f, err := os.Create(file)
	if err != nil {
		return err
	}
	if err := cyclonedx.NewBOMEncoder(f, cyclonedx.BOMFileFormatJSON).SetPretty(true).EncodeVersion(bom, cyclonedx.SpecVersion1_6); err != nil {
		f.Close()
		return err
	}
	return f.Close()
}

// component returns a module as a component with its package URL (purl-spec, type golang).
func component(m *debug.Module, kind cyclonedx.ComponentType) cyclonedx.Component {
	url := "pkg:golang/" + m.Path
	if m.Version != "" && m.Version != "(devel)" {
		url += "@" + strings.ReplaceAll(m.Version, "+", "%2B")
	}
	return cyclonedx.Component{BOMRef: url, Type: kind, Name: m.Path, Version: m.Version, PackageURL: url}
}
