package machine

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"unicode"

	"github.com/kballard/go-shellquote"

	"github.com/luaccm/ccm/runtime/encryption"
	"github.com/luaccm/ccm/runtime/resource"
	"github.com/luaccm/ccm/runtime/safepath"
	"github.com/luaccm/ccm/runtime/schema"
)

// item declares an item, in a block.
func (w *Writer) item(ctx context.Context, i Item, block string, p *placer) {
	var tries [][]*declaration
	var err error
	switch i.Kind {
	case Package:
		d := newDeclaration("package", i.Name)
		if i.Held {
			d.set("hold", schema.BoolValue(true))
		}
		tries = one(d)
		if w.Versions && i.Version != "" {
			pinned := d.clone()
			pinned.properties.Set("ensure", schema.StringValue(i.Version))
			tries = [][]*declaration{{pinned}, {d}}
		}
	case File, Directory:
		tries, err = w.file(ctx, i)
	case Link:
		tries, err = w.link(i)
	case Unit:
		tries, err = w.unit(ctx, i)
	case AuthorizedKey:
		tries, err = w.authorizedKey(i)
	case User:
		tries, err = w.user(ctx, i)
	case Service:
		p.wanted(i)
		return
	default:
		tries, err = w.imported(ctx, i)
	}
	w.forget(i, w.declare(ctx, i.ID(), block, tries, err))
}

// imported declares an item as ccm import does.
func (w *Writer) imported(ctx context.Context, i Item) ([][]*declaration, error) {
	d, err := w.importState(ctx, string(i.Kind), i.Name)
	if err != nil {
		return nil, err
	}
	switch i.Kind {
	case Group:
		if i.Value != "" {
			d.list("members", strings.Split(i.Value, ","))
		}
	case Locale:
		if i.Value == "default" {
			d.set("default", schema.BoolValue(true))
		}
	case Hostname:
		d.remarks = append(d.remarks, "differs per machine?")
	case Mount:
		if device, _ := d.properties.Get("device"); strings.HasPrefix(device.S, "UUID=") || strings.HasPrefix(device.S, "/dev/") {
			d.remarks = append(d.remarks, "differs per machine?")
		}
	}
	return one(d), nil
}

// importState declares a resource in its present state.
func (w *Writer) importState(ctx context.Context, typ, name string) (*declaration, error) {
	t := w.Registry.Type(typ)
	if t == nil || !t.Importable() {
		return nil, ownReason("cannot be imported")
	}
	r, err := Import(ctx, w.Registry, t, resource.Import{Name: name, View: w.View, StoreFile: func([]byte) (string, error) {
		return "", ownReason("its content is too long")
	}}, "", w.Facts)
	if err != nil {
		return nil, err
	}
	return &declaration{typ: typ, name: r.Name, properties: r.Properties}, nil
}

// attributes sets the owner, group and mode of a file.
func (w *Writer) attributes(d *declaration, info safepath.Info) {
	d.text("owner", w.View.UserName(info.UID)).text("group", w.View.GroupName(info.GID)).text("mode", fmt.Sprintf("%04o", info.Mode))
	if info.Mode > 0o777 {
		d.set("special_bits", schema.BoolValue(true))
	}
}

// Limits of contents in a script; longer ones are in a file.
const inlineBytes, inlineLines = 600, 12

// file declares a file or directory.
func (w *Writer) file(ctx context.Context, i Item) ([][]*declaration, error) {
	d := newDeclaration("file", i.Path)
	if i.Removed {
		return one(d.text("ensure", "absent")), nil
	}
	if i.Kind == Directory {
		info, err := w.View.Lstat(i.Path)
		if err != nil {
			return nil, err
		}
		w.attributes(d.text("ensure", "directory"), info)
		return one(d), nil
	}
	c := w.read[i.Path]
	switch {
	case c.err != nil:
		return nil, c.err
	case c.secret != "" && w.audience == nil:
		return nil, ownReason(c.secret + ": import with --recipient KEY to encrypt it")
	case c.secret != "":
		return w.encrypted(i.Path, c)
	}
	var tries [][]*declaration
	if edits := w.edits(ctx, i, c); edits != nil {
		tries = append(tries, edits)
	}
	text := string(c.text)
	if len(text) <= inlineBytes && strings.Count(text, "\n") <= inlineLines && isPlain(text) {
		d.text("content", text)
		w.attributes(d, c.Info)
	} else {
		at := "files" + sitePath(i.Path)
		w.attributes(d.text("source", "../"+at), c.Info)
		d.checked = without(d.properties, "source")
		d.files = append(d.files, SiteFile{at, c.text, 0o600})
	}
	if i.original != "" && i.Package != "" {
		d.remarks = append(d.remarks, "differs from package "+i.Package)
	}
	if why := perMachine(text, w.View); why != "" {
		d.remarks = append(d.remarks, "differs per machine? It contains "+why+".")
	}
	return append(tries, []*declaration{d}), nil
}

// encrypted declares a file that is encrypted in the site.
func (w *Writer) encrypted(name string, c *content) ([][]*declaration, error) {
	at := "files" + sitePath(name) + encryption.Suffix
	d := newDeclaration("file", name).text("source", "../"+at)
	if err := w.encrypt(d, at, c.text); err != nil {
		return nil, err
	}
	w.attributes(d, c.Info)
	d.checked = without(d.properties, "source")
	d.remarks = append(d.remarks, c.secret)
	return one(d), nil
}

// encrypt adds an encrypted file to those of a declaration.
func (w *Writer) encrypt(d *declaration, at string, text []byte) error {
	sealed, err := encryption.Encrypt(text, w.audience, false)
	if err != nil {
		return err
	}
	d.files = append(d.files, SiteFile{at, sealed, 0o600})
	d.encrypted++
	return nil
}

// sitePath returns a path of the machine as part of a name in the site: unusual bytes are written as %XX.
func sitePath(name string) string {
	var b strings.Builder
	for i := 0; i < len(name); i++ {
		switch c := name[i]; {
		case c == '/' || c == '.' || c == '-' || c == '_' || c == '+' || c == '@' || c == ':' || c == '=' || c == ',' ||
			'0' <= c && c <= '9' || 'a' <= c && c <= 'z' || 'A' <= c && c <= 'Z':
			b.WriteByte(c)
		default:
			fmt.Fprintf(&b, "%%%02X", c)
		}
	}
	return b.String()
}

// link declares a symbolic link.
func (w *Writer) link(i Item) ([][]*declaration, error) {
	target, err := w.View.Readlink(i.Path)
	if err != nil {
		return nil, err
	}
	return one(newDeclaration("link", i.Path).text("target", target)), nil
}

// unit declares a unit or drop-in. One that ccm cannot manage as such is a file.
func (w *Writer) unit(ctx context.Context, i Item) (tries [][]*declaration, err error) {
	c := w.read[i.Path]
	if c.err == nil && c.secret == "" && isPlain(string(c.text)) && c.Mode == 0o644 && c.UID == 0 && c.GID == 0 {
		d := newDeclaration("unit", i.Name)
		if unit, dropin, ok := strings.Cut(i.Name, ".d/"); ok {
			d.text("unit", unit).text("dropin", dropin)
		}
		tries = one(d.text("content", string(c.text)))
		if why := perMachine(string(c.text), w.View); why != "" {
			d.remarks = append(d.remarks, "differs per machine? It contains "+why+".")
		}
	}
	more, err := w.file(ctx, i)
	return append(tries, more...), err
}

// authorizedKey declares a key of a user; one that is not alone as ccm wants it is left out with the reason.
func (w *Writer) authorizedKey(i Item) ([][]*declaration, error) {
	text, err := w.View.ReadText(i.Path, largestFile)
	if err != nil {
		return nil, err
	}
	for _, line := range settings(text) {
		k, ok := parseKey(line)
		if !ok || k.key != i.Value {
			continue
		}
		if w.holdsSecret(strings.Join(append(k.options, k.comment), "\n")) {
			return nil, ownReason("its options or comment may contain a secret")
		}
		label := k.comment
		if label == "" || strings.ContainsFunc(label, func(c rune) bool { return !unicode.IsPrint(c) }) {
			label = k.key[max(0, len(k.key)-12):]
		}
		d := newDeclaration("authorized_key", i.Name+": "+label).text("user", i.Name).text("key", k.key)
		d.public = true
		if k.comment != "" {
			d.text("comment", k.comment)
		}
		if len(k.options) > 0 {
			d.list("options", k.options)
		}
		return one(d), nil
	}
	return nil, errChanged
}

// user declares a user, with the encrypted password if there are recipients.
func (w *Writer) user(ctx context.Context, i Item) ([][]*declaration, error) {
	d, err := w.importState(ctx, "user", i.Name)
	if err != nil {
		return nil, err
	}
	if i.Value != "" {
		d.list("groups", strings.Split(i.Value, ","))
	}
	if is, err := w.View.IsDirectory(i.Path); err == nil && is && strings.HasPrefix(i.Path, "/home/") {
		d.set("manage_home", schema.BoolValue(true))
	}
	for line := range strings.Lines(w.shadow()) {
		f := strings.Split(line, ":")
		if len(f) < 2 || f[0] != i.Name || len(f[1]) < 4 || f[1][0] == '!' || f[1][0] == '*' {
			continue
		}
		if w.audience == nil {
			w.leave(string(User)+"#"+i.Name, ownReason("its password hash: import with --recipient KEY to encrypt it"))
			break
		}
		at := "files/passwords/" + sitePath(i.Name) + encryption.Suffix
		if err := w.encrypt(d, at, []byte(f[1])); err != nil {
			return nil, err
		}
		d.checked = &schema.Table{Entries: slices.Clone(d.properties.Entries)}
		const placeholder = "the encrypted password"
		d.text("password", placeholder)
		d.secrets = map[string]string{placeholder: at}
	}
	return one(d), nil
}

// refreshes adds the commands that apply changed files: behind the files, if the machine has them.
func (w *Writer) refreshes(ctx context.Context) {
	for _, r := range []struct{ command, prefix string }{
		{"sysctl -p", "/etc/sysctl"},
		{"udevadm control --reload", "/etc/udev/rules.d/"},
		{"newaliases", "/etc/aliases"},
		{"ldconfig", "/etc/ld.so.conf"},
		{"update-ca-certificates", "/usr/local/share/ca-certificates/"},
		{"update-ca-trust", "/etc/pki/ca-trust/source/"},
		{"update-grub", "/etc/default/grub"},
	} {
		program, _, _ := strings.Cut(r.command, " ")
		if !slices.ContainsFunc([]string{"/usr/sbin/", "/usr/bin/", "/sbin/"}, func(dir string) bool {
			there, err := w.View.Exists(dir + program)
			return err == nil && there
		}) {
			continue
		}
		var files, paths []string
		last := ""
		for _, block := range w.order {
			for _, d := range w.blocks[block] {
				name, _ := d.properties.Get("path")
				if ensure, _ := d.properties.Get("ensure"); d.typ == "file" && ensure.S != "directory" {
					name.S = d.name
				}
				if strings.HasPrefix(name.S, r.prefix) {
					files, paths, last = append(files, d.id()), append(paths, name.S), block
				}
			}
		}
		if len(files) > 0 {
			if program == "sysctl" { // only these: a container refuses settings of the distribution, too
				r.command += " " + shellquote.Join(paths...)
			}
			d := newDeclaration("exec", r.command).set("refreshonly", schema.BoolValue(true)).list("subscribe", files)
			if program == "sysctl" {
				d.set("ignore_failure", schema.BoolValue(true))
				d.remarks = append(d.remarks, "A container may refuse settings of the kernel.")
			}
			_ = w.declare(ctx, "exec#"+r.command, last, one(d), nil) // what fails is left out
		}
	}
}
