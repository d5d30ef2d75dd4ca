// Package ssh runs ccm on other machines by the user's own ssh command: it copies the program there
// once, sends a request to it, and receives lines.
//
// [Client.Run] is the local side for one host, and [Schedule.Run] for many at a time;
// [Server.Serve] is the other side.
package ssh

import (
	"bufio"
	"cmp"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"

	"github.com/kballard/go-shellquote"

	"github.com/luaccm/ccm/runtime/diag"
	"github.com/luaccm/ccm/runtime/lazyregexp"
)

// A Host is a machine to reach.
type Host struct {
	// Name is the host's name for people: an alias of the configuration of ssh, a name, or
	// user@name.
	Name string
	// Address is the destination for ssh, "" for the name.
	Address string
	// Options are further options for ssh.
	Options []string
	// Become is the prefix of ccm's command line on the host, such as sudo -n, if the client has
	// none.
	Become []string
	// Facts are facts from the list of hosts; on the host they are below inventory.
	Facts map[string]any
}

// Reach sets the address and options for ssh. Any may be "".
func (h *Host) Reach(address, port, user, key string, further []string) {
	h.Address = address
	for _, o := range []struct{ flag, value string }{{"-p", port}, {"-l", user}, {"-i", key}} {
		if o.value != "" {
			h.Options = append(h.Options, o.flag, o.value)
		}
	}
	h.Options = append(h.Options, further...)
}

// Destination returns the address that ssh connects to, and the user and the port that it is given, "" for those of
// ~/.ssh/config.
func (h *Host) Destination() (address, user, port string) {
	for i := 0; i+1 < len(h.Options); i += 2 {
		switch h.Options[i] {
		case "-l":
			user = h.Options[i+1]
		case "-p":
			port = h.Options[i+1]
		default:
			i-- // an option that may have no value
		}
	}
	address = h.address()
	if at := strings.LastIndexByte(address, '@'); at >= 0 && user == "" {
		address, user = address[at+1:], address[:at]
	}
	return address, user, port
}

// address returns the destination for ssh.
func (h *Host) address() string { return cmp.Or(h.Address, h.Name) }

// Check returns why ssh cannot be called for the host.
func (h *Host) Check() error {
	if err := CheckName(h.Name); err != nil {
		return err
	}
	for i, o := range h.Options {
		if i > 0 && h.Options[i-1] == "-p" {
			if n, err := strconv.ParseUint(o, 10, 16); err != nil || n == 0 {
				return diag.Expected("a port from 1 to 65535").Got("%q", o)
			}
		}
		if strings.ContainsFunc(o, func(r rune) bool { return r < ' ' || r == 0x7f }) {
			return diag.Expected("an option of ssh").Got("%q", o)
		}
	}
	return CheckName(h.address())
}

// CheckName returns why a name cannot be given to ssh: ssh would read it as an option, or it does
// not fit in a line of a report.
func CheckName(name string) error {
	switch {
	case name == "":
		return diag.Expected("a host name").Got("an empty string")
	case strings.HasPrefix(name, "-"):
		return diag.Expected("a host name").Got("%q, which is an option", name)
	case strings.ContainsFunc(name, func(r rune) bool { return r <= ' ' || r == 0x7f }):
		return diag.Expected("a host name").Got("%q", name)
	}
	return nil
}

// maxHosts is the most hosts of a list, and maxHostLine the most bytes of its lines.
const (
	maxHosts    = 100_000
	maxHostLine = 64 << 10
)

// ReadHosts reads a list of hosts: one a line, with facts as name=value behind it, quoted as in a
// shell, and comments that begin with #.
func ReadHosts(r io.Reader, file string) (hosts []Host, err error) {
	lines := bufio.NewScanner(r)
	lines.Buffer(nil, maxHostLine)
	for n := 1; lines.Scan(); n++ {
		words, err := shellquote.Split(withoutComment(lines.Text()))
		if err != nil {
			return nil, fmt.Errorf("%s:%d: %w", file, n, err)
		}
		if len(words) == 0 {
			continue
		}
		h := Host{Name: words[0]}
		if err := CheckName(h.Name); err != nil {
			return nil, fmt.Errorf("%s:%d: %w", file, n, err)
		}
		if isOfInventory(h.Name) {
			return nil, diag.At(diag.Pos{File: file, Line: n}, diag.Expected("a host name").Got("%q", h.Name)).WithHint("name an Ansible inventory with -i")
		}
		for _, word := range words[1:] {
			name, value, ok := strings.Cut(word, "=")
			if !ok || !factName().MatchString(name) {
				return nil, fmt.Errorf("%s:%d: %w", file, n, diag.Expected("name=value after the host").Got("%q", word))
			}
			if h.Facts == nil {
				h.Facts = make(map[string]any)
			}
			h.Facts[name] = value
		}
		if hosts = append(hosts, h); len(hosts) > maxHosts {
			return nil, fmt.Errorf("%s: %w", file, diag.Exceeds("", "%d hosts", maxHosts))
		}
	}
	if err := lines.Err(); err != nil {
		return nil, fmt.Errorf("%s: %w", file, err)
	}
	return hosts, nil
}

// isOfInventory reports whether a word is a group or a variable of an inventory in INI, or a key of one in YAML.
func isOfInventory(word string) bool {
	return strings.HasPrefix(word, "[") || strings.Contains(word, "=") || strings.HasSuffix(word, ":") && !strings.Contains(word, "::")
}

// factName matches the valid names of a host's facts.
var factName = lazyregexp.New(`^[A-Za-z_][A-Za-z0-9_]*$`)

// withoutComment cuts off a # at the beginning of a word and all after it.
func withoutComment(line string) string {
	for i, c := range line {
		if c == '#' && (i == 0 || line[i-1] == ' ' || line[i-1] == '\t') {
			return line[:i]
		}
	}
	return line
}

// Distinct returns each host once, in the order and form of its first mention.
func Distinct(hosts []Host) []Host {
	seen := make(map[string]bool)
	return slices.DeleteFunc(hosts, func(h Host) bool {
		again := seen[h.Name]
		seen[h.Name] = true
		return again
	})
}
