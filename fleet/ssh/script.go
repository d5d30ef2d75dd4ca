package ssh

import (
	"errors"
	"fmt"
	"strings"

	"github.com/luaccm/ccm/runtime/lazyregexp"
)

// The scripts below are one line for sh (POSIX), and go to the login shell of the user in single
// quotes: that may be fish or csh. So they hold neither ' nor ! nor \, nor the end of a line.

// Markers are the words that the scripts print at the begin of a line. What a login shell prints
// does not begin so.
const (
	presentMarker = "ccm-ssh-present"
	absentMarker  = "ccm-ssh-absent"
	storedMarker  = "ccm-ssh-stored"
	promptMarker  = "ccm-ssh-password:"
)

// directory is where programs are kept on the host.
func directory(remote string) string {
	if remote != "" {
		return remote
	}
	return "${XDG_CACHE_HOME:-$HOME/.cache}/ccm"
}

// remoteDirectory is what --remote-dir may be.
var remoteDirectory = lazyregexp.New(`^/[A-Za-z0-9._/-]+$`)

// CheckRemoteDir returns why a directory of the hosts cannot be used.
func CheckRemoteDir(dir string) error {
	if !remoteDirectory().MatchString(dir) {
		return fmt.Errorf("want an absolute path of letters, digits and . _ - / on the hosts, got %q", dir)
	}
	return nil
}

// becomeWord is what a word of --become may be.
var becomeWord = lazyregexp.New(`^[A-Za-z0-9._/=:@%+,-]+$`)

// CheckBecome returns why a command cannot stand before ccm on the hosts.
func CheckBecome(words []string) error {
	for _, word := range words {
		if !becomeWord().MatchString(word) {
			return fmt.Errorf("want words of letters, digits and . _ / = : @ %% + , - , got %q", word)
		}
	}
	if len(words) == 0 {
		return errors.New("want a command such as sudo or doas")
	}
	return nil
}

// SudoWithPassword is what stands before ccm if sudo reads a password from standard input.
func SudoWithPassword() []string { return []string{"sudo", "-S", "-p", promptMarker} }

// startScript starts ccm if it is there, or says what the host is.
func startScript(remote string, become []string, unames []string, sums map[string]string) string {
	var b strings.Builder
	b.WriteString(`u="$(uname -s) $(uname -m)"; s=none; case "$u" in `)
	for _, u := range unames {
		fmt.Fprintf(&b, `"%s") s=%s ;; `, u, sums[u])
	}
	fmt.Fprintf(&b, `esac; p="%s/bin/$s/ccm"; if test -x "$p"; then echo %s; exec `, directory(remote), presentMarker)
	for _, word := range become {
		b.WriteString(word + " ")
	}
	fmt.Fprintf(&b, `"$p" serve-stdio; fi; z=plain; command -v gzip >/dev/null 2>&1 && z=gzip; echo %s "$z" "$u"`, absentMarker)
	return asCommand(b.String())
}

// storeScript stores the program that comes on its standard input.
func storeScript(remote, sum string, gzip bool) string {
	unpack := "cat"
	if gzip {
		unpack = "gzip -dc"
	}
	return asCommand(fmt.Sprintf(`umask 077; d="%s/bin/%s"; mkdir -p "$d" || exit 9; t="$d/new.$$"; trap "rm -f $t" EXIT HUP INT TERM; `+
		`%s > "$t" || exit 9; `+
		`c="$(sha256sum "$t" 2>/dev/null || shasum -a 256 "$t" 2>/dev/null || sha256 -q "$t" 2>/dev/null)"; `+
		`case "$c" in %s*) ;; *) echo "what arrived is not what was sent: $c" >&2; exit 9 ;; esac; `+
		`chmod 700 "$t" && mv -f "$t" "$d/ccm" || exit 9; `+
		`"$d/ccm" version >/dev/null || { echo "$d/ccm cannot be executed there (noexec?): --remote-dir names another place" >&2; exit 9; }; echo %s`,
		directory(remote), sum, unpack, sum, storedMarker))
}

// asCommand makes a script a command of any login shell.
func asCommand(script string) string { return "exec sh -c '" + script + "'" }
