// Package module is about Lua modules of others that a site uses at fixed versions: what
// ccm.mod.lua asks for, what ccm.lock holds fast, and where the files are.
//
//	ccm.mod.lua   written by people: dependencies with the least version that will do
//	ccm.lock      written by ccm mod: one version of each module, with the hash of its files
//	vendor/NAME   a copy of a module beside the lock, made by ccm mod vendor
//	the cache     all other copies, by the hash of what they hold
//
// A run reads these and fetches nothing: [Find] finds the lock of a script, and
// [Site.Open] the directory of a module whose files are those of the lock.
//
// What changes the lock is in the package resolve beside this one.
package module

// The names of the files.
const (
	FileName  = "ccm.mod.lua"
	LockName  = "ccm.lock"
	VendorDir = "vendor"
)

// Limits on one module. One that needs more is no module.
const (
	MaxFiles = 10_000
	MaxBytes = 64 << 20
)
