package encryption

import (
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"

	"filippo.io/age"
	"filippo.io/age/agessh"
	"filippo.io/age/plugin"
	"filippo.io/age/tag"

	"github.com/luaccm/ccm/runtime/diag"
	"github.com/luaccm/ccm/runtime/words"
)

// RecipientsFile is the path of the file of recipients, relative to the site.
const RecipientsFile = ".ccm/recipients"

// Everybody is the group of all recipients. It always exists.
const Everybody = "@all"

// Recipients are the people and hosts that a site's secrets are encrypted to:
//
//	# people
//	ann    age1ql3z7hjy54pw3hyww5ayyfg7zqgvc7w3j2elw8zmrj2kudsfs...
//	bob    ssh-ed25519 AAAAC3NzaC1lZDI1NTE5... bob@laptop
//	# hosts
//	web1   ssh-ed25519 AAAAC3NzaC1lZDI1NTE5...
//
//	@admins  ann bob
//	@web     web1 @admins
//
// A name may have several keys, one a line. A group may contain groups.
type Recipients struct {
	// File is the name of the file for messages.
	File string
	// Keys are in the order of the file.
	Keys []Key
	// Groups has the members of each group by its name, which begins with @.
	Groups map[string][]string
}

// A Key is a public key and the name of its owner.
type Key struct {
	Name string
	// Text is the key in the form of age: age1..., or ssh-ed25519 AAAA...
	Text string
	Line int
}

// An Audience is the set of recipients of one encrypted text.
type Audience struct {
	// Names are the people, hosts and groups that were named.
	Names []string
	// Keys are the keys of all of them.
	Keys []Key
}

// Limits of a file of recipients.
const (
	maxLine = 16 << 10
	maxKeys = 5000
)

// ReadRecipients parses a file of recipients. The error has all mistakes with their lines.
func ReadRecipients(file, text string) (*Recipients, error) {
	r := &Recipients{File: file, Groups: make(map[string][]string)}
	var errs diag.List
	groupLines := make(map[string]int)
	number := 0
	for line := range strings.Lines(text) {
		number++
		fail := func(hint, format string, args ...any) {
			e := diag.Errorf(diag.Pos{File: file, Line: number}, format, args...)
			e.Hint = hint
			errs = append(errs, e)
		}
		fields := strings.Fields(line)
		switch {
		case !utf8.ValidString(line) || len(line) > maxLine:
			fail("", "%w", diag.Expected("a line of text of at most %d bytes", maxLine))
			continue
		case len(fields) == 0 || strings.HasPrefix(fields[0], "#"):
			continue
		case strings.Contains(line, "AGE-SECRET-"+"KEY-") || strings.Contains(line, "AGE-PLUGIN-") || strings.Contains(line, "PRIVATE KEY"):
			fail("create a new one with ccm secret keygen, and put its public key here", "private key in a file that everybody can read")
			continue
		case strings.HasPrefix(fields[0], "@"):
			name := strings.TrimSuffix(fields[0], ":")
			members := fields[1:]
			if i := slices.IndexFunc(members, func(m string) bool { return strings.HasPrefix(m, "#") }); i >= 0 {
				members = members[:i]
			}
			switch {
			case !isGroup(strings.TrimPrefix(name, "@")):
				fail("", "%w", diag.Expected("a name of letters, digits, - _ and . for a group").Got("%q", fields[0]))
			case name == Everybody:
				fail("", "%s means everybody in this file, and cannot be defined", Everybody)
			case groupLines[name] > 0:
				fail("", "group %s is already defined in line %d", name, groupLines[name])
			case len(members) == 0:
				fail("", "%w", diag.Expected("the members of group %s after its name", name))
			default:
				r.Groups[name], groupLines[name] = members, number
			}
			continue
		}
		name := strings.TrimSuffix(fields[0], ":")
		if !IsName(name) {
			hint := ""
			if strings.HasPrefix(name, "age1") || strings.HasPrefix(name, "ssh-") {
				hint = "put a name before the key: ann " + fields[0] + " ..."
			}
			fail(hint, "%w", diag.Expected("a name of letters, digits, - _ and . before the key").Got("%q", words.Shorten(name, 60)))
			continue
		}
		if strings.HasPrefix(name, "age1") || name == "ssh-ed25519" || name == "ssh-rsa" {
			fail("put it before the key: ann "+words.Shorten(strings.Join(fields, " "), 60), "key without a name")
			continue
		}
		if len(fields) < 2 {
			fail("", "%w", diag.Expected("an age or SSH key after the name %s", name))
			continue
		}
		k := Key{Name: name, Text: fields[1], Line: number}
		if strings.HasPrefix(fields[1], "ssh-") && len(fields) > 2 {
			k.Text += " " + fields[2]
		}
		if _, err := k.recipient(); err != nil {
			fail("", "%s: %w", name, err)
			continue
		}
		if i := slices.IndexFunc(r.Keys, func(o Key) bool { return o.Text == k.Text }); i >= 0 {
			fail("", "this key is already in line %d, for %s", r.Keys[i].Line, r.Keys[i].Name)
			continue
		}
		if r.Keys = append(r.Keys, k); len(r.Keys) > maxKeys {
			return nil, diag.At(diag.Pos{File: file, Line: number}, diag.Exceeds("list of recipients", "%d keys", maxKeys))
		}
	}
	for _, group := range slices.SortedFunc(mapsKeys(r.Groups), func(a, b string) int { return groupLines[a] - groupLines[b] }) {
		if _, err := r.expand(group, nil); err != nil {
			errs = append(errs, diag.Errorf(diag.Pos{File: file, Line: groupLines[group]}, "%w", err))
		}
	}
	return r, errs.Err()
}

func mapsKeys(m map[string][]string) func(yield func(string) bool) {
	return func(yield func(string) bool) {
		for k := range m {
			if !yield(k) {
				return
			}
		}
	}
}

// IsName reports whether a text can be the name of a recipient.
func IsName(s string) bool {
	if s == "" || len(s) > 100 || s[0] == '-' || s[0] == '.' {
		return false
	}
	return strings.Trim(s, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_.") == ""
}

// names returns all names that Audience accepts.
func (r *Recipients) names() []string {
	names := []string{Everybody}
	for _, k := range r.Keys {
		names = append(names, k.Name)
	}
	for g := range r.Groups {
		names = append(names, g)
	}
	slices.Sort(names)
	return slices.Compact(names)
}

// expand returns the people and hosts that a name stands for. within are the groups around it, to detect cycles.
func (r *Recipients) expand(name string, within []string) ([]string, error) {
	if slices.Contains(within, name) {
		return nil, diag.Contains("group "+name, "itself")
	}
	if name == Everybody {
		var all []string
		for _, k := range r.Keys {
			all = append(all, k.Name)
		}
		return all, nil
	}
	members, ok := r.Groups[name]
	switch {
	case ok:
		var out []string
		for _, m := range members {
			more, err := r.expand(m, append(slices.Clip(within), name))
			if err != nil {
				return nil, err
			}
			if out = append(out, more...); len(out) > maxKeys {
				return nil, diag.Exceeds(fmt.Sprintf("group %s", name), "%d members", maxKeys)
			}
		}
		return out, nil
	case slices.ContainsFunc(r.Keys, func(k Key) bool { return k.Name == name }):
		return []string{name}, nil
	}
	e := diag.At(diag.Pos{}, diag.None("recipient %q in %s", name, r.File))
	e.Hint = diag.DidYouMean(name, r.names())
	return nil, e
}

// Audience returns the keys of the named people, hosts and groups. Without names it is everybody.
func (r *Recipients) Audience(names ...string) (*Audience, error) {
	if len(names) == 0 {
		names = []string{Everybody}
	}
	a := &Audience{Names: names}
	found := make(map[string]bool)
	for _, name := range names {
		list, err := r.expand(name, nil)
		if err != nil {
			return nil, err
		}
		for _, n := range list {
			found[n] = true
		}
	}
	for _, k := range r.Keys {
		if found[k.Name] {
			a.Keys = append(a.Keys, k)
		}
	}
	if len(a.Keys) == 0 {
		return nil, diag.At(diag.Pos{}, diag.None("recipients in %s", r.File)).
			WithHint("add one with ccm secret recipients add NAME KEY, or create a key with ccm secret keygen")
	}
	return a, nil
}

// ReadersOfAll returns the recipients that can decrypt every one of some values, nil if there are none.
func (r *Recipients) ReadersOfAll(values []Value) *Audience {
	a := &Audience{Keys: slices.Clone(r.Keys)}
	for _, v := range values {
		desc, err := DescribeValue(v.Text)
		if err != nil {
			return nil
		}
		a.Keys = slices.DeleteFunc(a.Keys, func(k Key) bool { return !slices.Contains(desc.Keys, KeyDigest{k.Name, k.Digest()}) })
	}
	if len(values) == 0 || len(a.Keys) == 0 {
		return nil
	}
	for _, k := range a.Keys {
		if !slices.Contains(a.Names, k.Name) {
			a.Names = append(a.Names, k.Name)
		}
	}
	return a
}

// mixed returns an error if post-quantum keys are mixed with others. age refuses that, because breaking one of the
// other keys is enough to read the text.
func (a *Audience) mixed() error {
	var hybrid, others []string
	for _, k := range a.Keys {
		if strings.HasPrefix(k.Text, "age1pq1") || strings.HasPrefix(k.Text, "age1tagpq1") {
			hybrid = append(hybrid, k.Name)
		} else {
			others = append(others, k.Name)
		}
	}
	if len(hybrid) == 0 || len(others) == 0 {
		return nil
	}
	return diag.At(diag.Pos{}, diag.SubjectCannot("age", "encrypt to post-quantum keys (of %s) and other keys (of %s) at once", strings.Join(hybrid, ", "), strings.Join(others, ", "))).
		WithHint("use keys of one kind, or select recipients with --for")
}

// has reports whether a key with that name and digest is in the audience.
func (a *Audience) has(k KeyDigest) bool {
	return slices.ContainsFunc(a.Keys, func(own Key) bool { return own.Name == k.Name && own.Digest() == k.Digest })
}

// recipient returns the recipient for age.
func (k Key) recipient() (age.Recipient, error) {
	r, err := parseRecipient(k.Text)
	if err != nil {
		return nil, diag.Not("", "a valid age key: %w", err)
	}
	return r, nil
}

// parseRecipient parses a public key in one of the forms of the program age.
func parseRecipient(text string) (age.Recipient, error) {
	switch {
	case strings.HasPrefix(text, "age1tag1"), strings.HasPrefix(text, "age1tagpq1"):
		return tag.ParseRecipient(text)
	case strings.HasPrefix(text, "age1pq1"):
		return age.ParseHybridRecipient(text)
	case strings.HasPrefix(text, "age1") && strings.Count(text, "1") > 1:
		return plugin.NewRecipient(text, pluginUI())
	case strings.HasPrefix(text, "age1"):
		return age.ParseX25519Recipient(text)
	case strings.HasPrefix(text, "ssh-ed25519 "), strings.HasPrefix(text, "ssh-rsa "):
		return agessh.ParseRecipient(text)
	case strings.HasPrefix(text, "ecdsa-"), strings.HasPrefix(text, "sk-"):
		return nil, diag.Expected("an SSH key of type ssh-ed25519 or ssh-rsa")
	}
	return nil, diag.Expected("a public key that begins with age1 or ssh-ed25519")
}
