package svctool

import (
	"strings"

	"github.com/luaccm/ccm/runtime/host"
	"github.com/luaccm/ccm/runtime/lazyregexp"
)

// reloadWord matches the reload command of a script, but not force-reload, which may restart
// according to LSB.
var reloadWord = lazyregexp.New(`(^|[^-\w])(do_)?reload\b`)

// largestScript is the number of bytes of a script that are read.
const largestScript = 1 << 20

// SpeaksOfReload reports whether the text of a script has the word reload. Scripts do not list their
// commands, so a script with the word counts as one with the command.
func SpeaksOfReload(v *host.View, script string) (bool, error) {
	text, err := v.ReadUpTo(script, largestScript)
	if err != nil {
		return false, err
	}
	for line := range strings.Lines(string(text)) {
		if !strings.HasPrefix(strings.TrimSpace(line), "#") && reloadWord().MatchString(line) {
			return true, nil
		}
	}
	return false, nil
}
