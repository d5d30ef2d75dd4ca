package svctool

import (
	"strings"

	"github.com/luaccm/ccm/runtime/host"
	"github.com/luaccm/ccm/runtime/lazyregexp"
)

// reloadWord is the command of a script: not force-reload, which LSB lets restart.
var reloadWord = lazyregexp.New(`(^|[^-\w])(do_)?reload\b`)

// largestScript is how much of a script is read.
const largestScript = 1 << 20

// SpeaksOfReload reports whether a script has a command reload. No script says which it
// has; one with the word is taken to have it.
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
