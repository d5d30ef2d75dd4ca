package main

import (
	"os"

	"github.com/luaccm/ccm/runtime/host"
)

// trust says which files are believed that say what ccm is to do. All that reads
// such a file asks it: scripts and their modules, manifests and what they
// include, data, facts, specs, sessions and the state directory. What is only
// brought to the machine, such as the source of a file, is content and not asked
// about.
func (e *env) trust() *host.Trust {
	if e.allowInsecure {
		return nil
	}
	return host.TrustOf(os.Geteuid(), os.Getenv)
}
