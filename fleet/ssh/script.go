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
	nextMarker    = "ccm-ssh-next"
	promptMarker  = "ccm-ssh-password:"
)

// say returns what prints a marker, and does not hold it: a host may print what it was told to run.
func say(marker string) string { return "echo ccm-ssh-\"\"" + strings.TrimPrefix(marker, "ccm-ssh-") }

// directory is where programs are kept on the host.
func directory(remote string) string {
	if remote != "" {
		return remote
	}
	return "${XDG_CACHE_HOME:-${HOME:?}/.cache}/ccm"
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

// startScript starts ccm. If it is not there, it says what the host is, and stores it first: it asks for
// one part after the other, and gets on its standard input how many bytes come and then these, 0 at the
// end. Nothing else is sent until it asks for the next, so that it does not matter how far head and gzip read.
func startScript(remote string, become []string, unames []string, sums map[string]string) string {
	var b strings.Builder
	b.WriteString(`u="$(uname -sm)"; s=none; case "$u" in `)
	for _, u := range unames {
		fmt.Fprintf(&b, `"%s") s=%s ;; `, u, sums[u])
	}
	fmt.Fprintf(&b, `esac; d="%s/bin/$s"; test -x "$d/ccm" || `, directory(remote))
	b.WriteString("( " + storeScript() + " ) || exit 9; " + say(presentMarker) + "; exec ")
	for _, word := range become {
		b.WriteString(word + " ")
	}
	b.WriteString(`"$d/ccm" serve-stdio`)
	return asCommand(b.String())
}

// storeScript stores the program that comes, in a shell of its own. The program says itself that it
// arrived as it was sent, which also tells whether it can be run there.
func storeScript() string {
	return `z=cat; x=cat; command -v gzip >/dev/null 2>&1 && { z=gzip; x="gzip -dc"; }; ` + say(absentMarker) + ` "$z" "$u"; ` +
		`test "$s" = none && exit 9; exec 3>&1; ` +
		`umask 077; mkdir -p "$d" || exit 9; t="$d/new.$$.$(uname -n)"; r() { rm -f "$t"; }; trap r EXIT; trap "exit 9" HUP INT TERM; ` +
		`while ` + say(nextMarker) + ` >&3; read -r n && test "$n" -gt 0; do head -c "$n" || break; done | $x > "$t" || exit 9; chmod 700 "$t" || exit 9; ` +
		`c="$("$t" serve-stdio --digest </dev/null)"; k=$?; case $k in 0) ;; ` +
		`126) echo "$d/ccm cannot be executed there (noexec?): --remote-dir names another place" >&2; exit 9 ;; ` +
		`*) echo "$d/ccm does not run there: it ended with status $k" >&2; exit 9 ;; esac; ` +
		`test "$c" = "$s" || { echo "what arrived is not what was sent: $c" >&2; exit 9; }; mv -f "$t" "$d/ccm" || exit 9; ` +
		removeOldScript()
}

// keptPrograms is how many programs a host keeps: operators with different versions of ccm do not
// remove each other's.
const keptPrograms = 4

// removeOldScript removes the programs that were stored before the last few. One that runs goes on.
// Directories of other names are the user's own.
func removeOldScript() string {
	return fmt.Sprintf(`cd "$d/.." && ls -t | grep -xE "[0-9a-f]{64}" | tail -n +%d | `+
		`while read -r o; do rm -f "$o/ccm"; rmdir "$o"; done 2>/dev/null; :`, keptPrograms+1)
}

// asCommand makes a script a command of any login shell.
func asCommand(script string) string { return "exec sh -c '" + script + "'" }
