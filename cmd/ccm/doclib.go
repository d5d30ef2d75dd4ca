package main

import (
	"github.com/luaccm/ccm/luaapi/std"
)

// docLibrary prints the reference of a library of scripts, such as str, or of
// one function of it, such as str.split. It is false if there is none of that
// name.
func (e *env) docLibrary(name string, asJSON bool) (bool, error) {
	for _, lib := range std.Libraries() {
		entries := lib.Entries()
		if lib.Name == name && (len(entries) > 1 || entries[0].Name != name) {
			if asJSON {
				return true, e.printJSON(entries)
			}
			lib.WriteText(e.stdout)
			return true, nil
		}
		for _, entry := range entries {
			if entry.Name != name {
				continue
			}
			if asJSON {
				return true, e.printJSON(entry)
			}
			entry.WriteText(e.stdout)
			return true, nil
		}
	}
	return false, nil
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
