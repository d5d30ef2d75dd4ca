package ssh

import (
	"fmt"
	"strings"

	"github.com/luaccm/ccm/runtime/diag"
	"github.com/luaccm/ccm/runtime/lazyregexp"
)

// The scripts below are one line for sh (POSIX), in single quotes for the login shell of the user,
// which may be fish or csh. So they hold neither ' nor ! nor \, nor an end of line.

// Markers are words that the scripts print at the beginning of a line. Output of a login shell does
// not begin so.
const (
	presentMarker = "ccm-ssh-present"
	absentMarker  = "ccm-ssh-absent"
	nextMarker    = "ccm-ssh-next"
	promptMarker  = "ccm-ssh-password:"
)

// say returns a command that prints a marker without holding it: a host may print its commands.
func say(marker string) string { return "echo ccm-ssh-\"\"" + strings.TrimPrefix(marker, "ccm-ssh-") }

// directory is the directory of programs on the host.
func directory(remote string) string {
	if remote != "" {
		return remote
	}
	return "${XDG_CACHE_HOME:-${HOME:?}/.cache}/ccm"
}

// remoteDirectory matches the valid values of --remote-dir.
var remoteDirectory = lazyregexp.New(`^/[A-Za-z0-9._/-]+$`)

// CheckRemoteDir returns why a directory of the hosts cannot be used.
func CheckRemoteDir(dir string) error {
	if !remoteDirectory().MatchString(dir) {
		return diag.Expected("an absolute path of letters, digits and . _ - / on the hosts").Got("%q", dir)
	}
	return nil
}

// becomeWord matches a valid word of --become.
var becomeWord = lazyregexp.New(`^[A-Za-z0-9._/=:@%+,-]+$`)

// CheckBecome returns why a command cannot be the prefix of ccm's on the hosts.
func CheckBecome(words []string) error {
	for _, word := range words {
		if !becomeWord().MatchString(word) {
			return diag.Expected("words of letters, digits and . _ / = : @ %% + , -").Got("%q", word)
		}
	}
	if len(words) == 0 {
		return diag.Expected("a command such as sudo or doas")
	}
	return nil
}

// SudoWithPassword is the prefix of ccm's command line if sudo reads a password from standard
// input.
func SudoWithPassword() []string { return []string{"sudo", "-S", "-p", promptMarker} }

// startScript starts ccm. If the host lacks the program, the script prints the host's system, and
// stores the program first: it requests one part after the other, and reads from standard input the
// number of bytes and then the bytes, 0 at the end. Nothing else is sent before the next request,
// so that it does not matter how far head and gzip read.
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

// storeScript stores the sent program, in a shell of its own. The program itself checks that it
// arrived intact, which also shows whether the host can run it.
func storeScript() string {
	return `z=cat; x=cat; command -v gzip >/dev/null 2>&1 && { z=gzip; x="gzip -dc"; }; ` + say(absentMarker) + ` "$z" "$u"; ` +
		`test "$s" = none && exit 9; exec 3>&1; ` +
		`umask 077; mkdir -p "$d" || exit 9; t="$d/new.$$.$(uname -n)"; r() { rm -f "$t"; }; trap r EXIT; trap "exit 9" HUP INT TERM; ` +
		`while ` + say(nextMarker) + ` >&3; read -r n && test "$n" -gt 0; do head -c "$n" || break; done | $x > "$t" || exit 9; chmod 700 "$t" || exit 9; ` +
		`c="$("$t" serve-stdio --digest </dev/null)"; k=$?; case $k in 0) ;; ` +
		`126) echo "$d/ccm cannot be executed there (noexec?): choose another directory with --remote-dir" >&2; exit 9 ;; ` +
		`*) echo "$d/ccm does not run there: exit status $k" >&2; exit 9 ;; esac; ` +
		`test "$c" = "$s" || { echo "the received file differs from the one sent: $c" >&2; exit 9; }; mv -f "$t" "$d/ccm" || exit 9; ` +
		removeOldScript()
}

// keptPrograms is the number of programs that a host keeps: operators with different versions of
// ccm do not remove each other's.
const keptPrograms = 4

// removeOldScript removes all programs but the newest few. A running program goes on. Directories
// with other names belong to the user.
func removeOldScript() string {
	return fmt.Sprintf(`cd "$d/.." && ls -t | grep -xE "[0-9a-f]{64}" | tail -n +%d | `+
		`while read -r o; do rm -f "$o/ccm"; rmdir "$o"; done 2>/dev/null; :`, keptPrograms+1)
}

// asCommand makes a script a command for any login shell.
func asCommand(script string) string { return "exec sh -c '" + script + "'" }
