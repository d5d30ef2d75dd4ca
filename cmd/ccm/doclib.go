package main

import (
	"strings"

	"github.com/luaccm/ccm/luaapi/std"
	"github.com/luaccm/ccm/runtime/diag"
	"github.com/luaccm/ccm/runtime/resource"
)

// docLibrary prints the reference of a library of scripts, such as str, or of
// one function of it, such as str.split.
func (e *env) docLibrary(reg *resource.Registry, name string, asJSON bool) error {
	library, field, _ := strings.Cut(name, ".")
	for _, lib := range std.Libraries() {
		entries := lib.Entries()
		if lib.Name == name && (len(entries) > 1 || entries[0].Name != name) {
			if asJSON {
				return e.printJSON(entries)
			}
			lib.WriteText(e.stdout)
			return nil
		}
		for _, entry := range entries {
			if entry.Name != name {
				continue
			}
			if asJSON {
				return e.printJSON(entry)
			}
			entry.WriteText(e.stdout)
			return nil
		}
		if lib.Name == library {
			err := diag.Errorf(diag.Pos{}, "%s has no %q", library, field)
			err.Hint = diag.DidYouMean(field, lib.Names())
			return err
		}
	}
	addShipped(reg)
	known := reg.TypeNames()
	for _, lib := range std.Libraries() {
		known = append(known, lib.Name)
	}
	err := diag.Errorf(diag.Pos{}, "no resource type and no library %q", library)
	if err.Hint = diag.DidYouMean(library, known); err.Hint == "" {
		err.Hint = "types: " + strings.Join(reg.TypeNames(), ", ")
	}
	return err
}

// libraryNames returns the names that docLibrary knows.
func libraryNames() []string {
	var names []string
	for _, lib := range std.Libraries() {
		names = append(names, lib.Name)
		for _, entry := range lib.Entries() {
			if entry.Name != lib.Name {
				names = append(names, entry.Name)
			}
		}
	}
	return names
}
