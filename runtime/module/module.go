// Package module reads the Lua modules that a site uses at fixed versions.
//
//	ccm.mod.lua   written by people: dependencies with the least version that is accepted
//	ccm.lock      written by ccm mod: one version of each module, with the hash of its files
//	vendor/NAME   a copy of a module beside the lock, made by ccm mod vendor
//	the cache     all other copies, in directories named by their hashes
//
// A run only reads these and downloads nothing: [Find] finds the lock that holds for a script, and [Site.Open] the
// directory of a module, whose files it verifies.
//
// The package resolve beside this one writes the lock and downloads modules.
package module

// Names in the directory of a site.
const (
	FileName  = "ccm.mod.lua"
	LockName  = "ccm.lock"
	VendorDir = "vendor"
)

// Limits on the files of one module.
const (
	MaxFiles = 10_000
	MaxBytes = 64 << 20
)
