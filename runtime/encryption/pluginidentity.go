package encryption

import (
	"fmt"
	"os"

	"filippo.io/age"
	"filippo.io/age/plugin"

	"github.com/luaccm/ccm/runtime/terminal"
)

// A pluginIdentity is an identity that a plugin program holds. The program may ask for a PIN, or wait for the touch
// of a token.
type pluginIdentity struct {
	ids     *Identities
	program *plugin.Identity
}

// Unwrap implements age.Identity.
func (p *pluginIdentity) Unwrap(stanzas []*age.Stanza) ([]byte, error) {
	defer p.ids.asking()()
	return p.program.Unwrap(stanzas)
}

// pluginUI returns the connection of plugin programs to the user of ccm.
func pluginUI() *plugin.ClientUI {
	say := func(format string, v ...any) {
		terminal.Fprintf(terminal.NewWriter(os.Stderr), "%s\n", fmt.Sprintf(format, v...))
	}
	return plugin.NewTerminalUI(say, say)
}
