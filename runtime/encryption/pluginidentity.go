package encryption

import (
	"fmt"
	"os"

	"filippo.io/age"
	"filippo.io/age/plugin"

	"github.com/luaccm/ccm/runtime/terminal"
)

// A pluginIdentity is kept by a program, which may ask for a PIN or wait until a token is touched.
type pluginIdentity struct {
	ids     *Identities
	program *plugin.Identity
}

// Unwrap implements age.Identity.
func (p *pluginIdentity) Unwrap(stanzas []*age.Stanza) ([]byte, error) {
	defer p.ids.asking()()
	return p.program.Unwrap(stanzas)
}

// pluginUI is how programs named age-plugin-NAME speak with the user of ccm.
func pluginUI() *plugin.ClientUI {
	say := func(format string, v ...any) {
		terminal.Fprintf(terminal.NewWriter(os.Stderr), "%s\n", fmt.Sprintf(format, v...))
	}
	return plugin.NewTerminalUI(say, say)
}
