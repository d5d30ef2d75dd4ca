package subject

import (
	"fmt"
	"strings"

	"github.com/luaccm/ccm/runtime/diag"
)

// MaxName is the most characters in a name of a node or an environment, as in a DNS label (RFC
// 1035, 2.3.1).
const MaxName = 63

// CheckName returns why a name of a node or an environment is not valid: it is one token of a
// subject, and part of a stream's name. what is the kind of the name, for the error.
func CheckName(what, name string) error {
	if name == "" {
		return fmt.Errorf("%s: %w", what, diag.Expected("a name").Got("none"))
	}
	if len(name) > MaxName {
		return fmt.Errorf("%s: %w", what, diag.MustBe("at most %d characters", MaxName).Got("%d", len(name)))
	}
	for i, c := range []byte(name) {
		if c >= 'a' && c <= 'z' || c >= '0' && c <= '9' || c == '-' && i > 0 {
			continue
		}
		return fmt.Errorf("%s: %w", what, diag.Expected("lower-case letters, digits and -, not starting with -").Got("%q", name))
	}
	return nil
}

// NodeName returns the name of a node for a host name: web1-example-net for web1.example.net. It
// returns "" if no valid characters are left.
func NodeName(host string) string {
	name := strings.Map(func(r rune) rune {
		switch {
		case r >= 'a' && r <= 'z', r >= '0' && r <= '9':
			return r
		case r >= 'A' && r <= 'Z':
			return r + 'a' - 'A'
		}
		return '-'
	}, host)
	name = strings.TrimLeft(name, "-")
	return strings.TrimRight(name[:min(len(name), MaxName)], "-")
}
