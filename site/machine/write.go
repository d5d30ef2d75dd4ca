package machine

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"path"
	"slices"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/luaccm/ccm/runtime/encryption"
	"github.com/luaccm/ccm/runtime/facts"
	"github.com/luaccm/ccm/runtime/host"
	"github.com/luaccm/ccm/runtime/manifest"
	"github.com/luaccm/ccm/runtime/plainsecret"
	"github.com/luaccm/ccm/runtime/resource"
	"github.com/luaccm/ccm/runtime/safepath"
	"github.com/luaccm/ccm/runtime/schema"
)

// A Writer writes a scan as a site. It declares only what a plan on this machine finds up to date, and no secrets.
type Writer struct {
	View     *host.View
	Registry *resource.Registry
	Facts    *facts.Facts
	// Recipients are the keys of people that secrets are encrypted to, as in .ccm/recipients. Without any, secrets are
	// left out. The host key of the machine is added, so that it can decrypt them.
	Recipients []string
	// Sensitive reports whether a file held secrets in earlier runs; nil if there were none.
	Sensitive func(name string) bool

	audience   *encryption.Audience
	recipients string // the file of recipients
	known      []string
	out        *Site
	read       map[string]*content
	blocks     map[string][]*declaration
	order      []string
	names      map[string]bool // the declared resources, by their IDs
}

// A Site is the result of a Writer.
type Site struct {
	// Files are the files of the site, with their names relative to it.
	Files []SiteFile
	// Declared is the number of resources, Encrypted that of encrypted files.
	Declared, Encrypted int
	// LeftOut is what is not in the site.
	LeftOut []LeftOut
}

// A SiteFile is a file of a site.
type SiteFile struct {
	Name    string
	Content []byte
	Mode    uint32
}

// A declaration is a resource of the site.
type declaration struct {
	typ, name  string
	properties *schema.Table
	remarks    []string // comments above it
	// checked are the properties that a plan is tried with instead, nil for the same.
	checked *schema.Table
	// literals are Lua expressions by the text that stands for them in the properties.
	literals map[string]string
	public   bool // it holds keys that are no secrets
	// files are the files of the site that it needs; encrypted is how many of them are encrypted.
	files     []SiteFile
	encrypted int
}

// content is a file of the machine, as it was read.
type content struct {
	host.Info
	text   []byte
	secret string // why it is a secret, or ""
	err    error
}

// The parts of a site, in order. What follows a colon in the name of a block is its title.
const (
	packagesPart = "packages"
	usersPart    = "users"
	systemPart   = "system"
	filesPart    = "files"
	servicesPart = "services"
)

var parts = []string{packagesPart, usersPart, systemPart, filesPart, servicesPart}

// headers are the first lines of the parts.
var headers = map[string]string{
	packagesPart: "Repositories, and the packages that were installed by request.",
	usersPart:    "Users and groups, their keys, sudo rules and crontabs.",
	systemPart:   "Settings of the system.",
	filesPart:    "Configuration files that differ from their packages, and files that no package owns.",
	servicesPart: "Services, each with its files.",
}

// Write returns the site for a scan. The error is one of ctx or of the recipients.
func (w *Writer) Write(ctx context.Context, s *Scan) (*Site, error) {
	w.out, w.read, w.blocks, w.names = &Site{LeftOut: slices.Clone(s.LeftOut)}, map[string]*content{}, map[string][]*declaration{}, map[string]bool{}
	if err := w.addressees(s); err != nil {
		return nil, err
	}
	w.readContents(s)
	p := newPlacer(w, s)
	for _, first := range []bool{true, false} { // repositories come before packages
		for _, i := range s.Items {
			if err := ctx.Err(); err != nil {
				return nil, err
			}
			if block := p.place(i); (block == repositoriesBlock) == first {
				w.item(ctx, i, block, p)
			}
		}
	}
	w.refreshes(ctx)
	p.services(ctx)
	for _, part := range parts {
		w.part(part)
	}
	w.site(s)
	w.readme(s)
	if w.recipients != "" && w.out.Encrypted > 0 {
		w.add(encryption.RecipientsFile, []byte(w.recipients), 0o644)
	}
	return w.out, w.check()
}

func (w *Writer) add(name string, content []byte, mode uint32) {
	w.out.Files = append(w.out.Files, SiteFile{name, content, mode})
}

// An ownReason is a reason to leave out something that quotes nothing of the machine.
type ownReason string

// Error implements error.
func (r ownReason) Error() string { return string(r) }

// leave notes that an item is not in the site. An error of others may quote a secret.
func (w *Writer) leave(name string, err error) {
	reason := oneLine(err.Error())
	own, isOwn := errors.AsType[ownReason](err)
	switch {
	case isOwn:
		reason = string(own)
	case errors.Is(err, fs.ErrPermission):
		reason = "permission denied: run the import as root"
	case w.holdsSecret(reason):
		reason = "the reason is not shown, because it may contain a secret"
	}
	w.out.LeftOut = append(w.out.LeftOut, LeftOut{name, reason})
}

// addressees reads the recipients, and adds the machine itself.
func (w *Writer) addressees(s *Scan) error {
	if len(w.Recipients) == 0 {
		return nil
	}
	var text strings.Builder
	for i, key := range w.Recipients {
		fmt.Fprintf(&text, "person%d %s\n", i+1, strings.TrimSpace(key))
	}
	if key, err := w.View.ReadText(encryption.HostKey+".pub", largestFile); err == nil {
		if words := strings.Fields(key); len(words) >= 2 && words[0] == "ssh-ed25519" {
			name := s.Hostname
			if !encryption.IsName(name) {
				name = "machine"
			}
			fmt.Fprintf(&text, "# the machine\n%s %s %s\n", name, words[0], words[1])
		}
	}
	r, err := encryption.ReadRecipients("--recipient", text.String())
	if err != nil {
		return err
	}
	w.recipients = text.String()
	w.audience, err = r.Audience()
	return err
}

// readContents reads the files of the items, and finds the secrets in them: what is a secret in one file is one in all.
func (w *Writer) readContents(s *Scan) {
	known := map[string]bool{}
	total := 0
	for _, i := range s.Items {
		if i.Kind != File && i.Kind != Unit || i.Removed || i.Path == "" {
			continue
		}
		c := w.readFile(i.Path)
		if total += len(c.text); total > largestCompared {
			c.text, c.err = nil, ownReason(fmt.Sprintf("the files of a site have at most %d bytes", largestCompared))
		}
		w.read[i.Path] = c
		if c.err != nil {
			continue
		}
		if c.secret = secretFile(i.Path, c.Mode, c.text); c.secret == "" && w.Sensitive != nil && w.Sensitive(i.Path) {
			c.secret = "held secrets in earlier runs"
		}
		if c.secret != "" {
			for _, value := range secretValues(string(c.text)) {
				known[value] = true
			}
		}
	}
	for line := range strings.Lines(w.shadow()) {
		if f := strings.Split(line, ":"); len(f) > 1 && len(f[1]) > 8 {
			known[f[1]] = true
		}
	}
	w.known = sortedKeys(known)
	for _, c := range w.read {
		if c.err == nil && c.secret == "" && w.holdsKnown(string(c.text)) {
			c.secret = "holds a secret of another file"
		}
	}
}

// lowercase are the letters of words: a short value of them may be in any text.
const lowercase = "abcdefghijklmnopqrstuvwxyz"

// secretValues returns the values of a text that look like secrets.
func secretValues(text string) (values []string) {
	for line := range strings.Lines(text) {
		for _, f := range plainsecret.Text("x.conf", strings.TrimLeft(line, "#; \t")) {
			line := strings.TrimLeft(line, "#; \t")
			if value := strings.Trim(line[f.Column-1:min(len(line), f.Column-1+f.Length)], "\"' \t\r\n"); len(value) >= 8 && (len(value) >= 16 || strings.Trim(value, lowercase) != "") {
				values = append(values, value)
			}
		}
		for _, word := range aWord().FindAllString(line, -1) {
			if isToken(word) {
				values = append(values, word)
			}
		}
	}
	return values
}

func (w *Writer) holdsKnown(text string) bool {
	return slices.ContainsFunc(w.known, func(value string) bool { return strings.Contains(text, value) })
}

func (w *Writer) holdsSecret(text string) bool {
	return w.holdsKnown(text) || secretText("", text) != ""
}

// shadow returns /etc/shadow, "" if it cannot be read.
func (w *Writer) shadow() string {
	text, err := w.View.ReadText("/etc/shadow", largestDatabase)
	if err != nil {
		return ""
	}
	return text
}

// readFile reads a file that stays the same meanwhile.
func (w *Writer) readFile(name string) *content {
	c := new(content)
	if c.Info, c.err = w.View.Lstat(name); c.err != nil {
		return c
	}
	if c.Kind != safepath.Regular {
		c.err = ownReason("no longer a file")
		return c
	}
	if c.text, c.err = w.View.ReadUpTo(name, largestFile); c.err != nil {
		return c
	}
	after, err := w.View.Lstat(name)
	if err != nil || after.Ino != c.Ino || after.CTime != c.CTime || after.Size != c.Size {
		c.err = ownReason("changed while it was read")
	}
	return c
}

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
	w.declare(ctx, i.ID(), block, tries, err)
}

// one returns one way to declare an item.
func one(d *declaration) [][]*declaration { return [][]*declaration{{d}} }

// declare adds the first declarations that are up to date.
func (w *Writer) declare(ctx context.Context, id, block string, tries [][]*declaration, err error) {
	for _, list := range tries {
		err = nil
		for _, d := range list {
			if err == nil {
				err = w.try(ctx, d)
			}
		}
		if err != nil {
			continue
		}
		if w.blocks[block] == nil {
			w.order = append(w.order, block)
		}
		w.blocks[block] = append(w.blocks[block], list...)
		for _, d := range list {
			w.names[d.typ+"#"+d.name] = true
			for _, f := range d.files {
				w.add(f.Name, f.Content, f.Mode)
			}
			w.out.Encrypted += d.encrypted
		}
		w.out.Declared += len(list)
		return
	}
	if err != nil {
		w.leave(id, err)
	}
}

func newDeclaration(typ, name string) *declaration {
	return &declaration{typ: typ, name: name, properties: new(schema.Table)}
}

func (d *declaration) set(key string, v schema.Value) *declaration {
	d.properties.Set(key, v)
	return d
}

func (d *declaration) text(key, value string) *declaration {
	return d.set(key, schema.StringValue(value))
}

func (d *declaration) list(key string, values []string) *declaration {
	var items []schema.Value
	for _, value := range values {
		items = append(items, schema.StringValue(value))
	}
	return d.set(key, schema.ListValue(items...))
}

// try returns the reason why a declaration does not belong in the site: a secret in it, a mistake, or that a plan would
// change something.
func (w *Writer) try(ctx context.Context, d *declaration) error {
	if w.names[d.typ+"#"+d.name] {
		return ownReason("declared twice")
	}
	if w.holdsKnown(d.name) || secretText("", d.name) != "" {
		return ownReason("its name may contain a secret")
	}
	if !isShowable(d.name) {
		return ownReason("its name has unusual characters")
	}
	if err := w.secretIn(d); err != nil {
		return err
	}
	tab := d.checked
	if tab == nil {
		tab = d.properties
	}
	return w.upToDate(ctx, d.typ, d.name, tab)
}

// secretIn returns the reason why properties hold a secret.
func (w *Writer) secretIn(d *declaration) (found error) {
	look := func(text string) {
		if found == nil && !isShowable(text) {
			found = ownReason("has unusual characters")
		}
		if found == nil && (w.holdsKnown(text) || !d.public && secretText("", text) != "") {
			found = ownReason("may contain a secret")
		}
	}
	var walk func(v schema.Value)
	walk = func(v schema.Value) {
		switch v.Kind {
		case schema.List:
			look(strings.Join(v.Texts(), " "))
			look(strings.Join(v.Texts(), "\n"))
			for _, item := range v.Items() {
				walk(item)
			}
		case schema.Map:
			for _, e := range v.Table().Entries {
				if e.Val.Kind == schema.String {
					look(e.Key + "=" + e.Val.S)
				}
				walk(e.Val)
			}
		default:
			look(v.S)
		}
	}
	for _, e := range d.properties.Entries {
		walk(e.Val)
	}
	return found
}

// upToDate returns nil if a plan finds a resource up to date.
func (w *Writer) upToDate(ctx context.Context, typ, name string, properties *schema.Table) error {
	d, _, _, err := w.decide(ctx, w.View, typ, name, properties)
	switch {
	case err != nil:
		return err
	case d.Err != nil:
		return d.Err
	case !d.Stable():
		return errors.New("a plan would change it: " + d.String())
	}
	return nil
}

// decide returns the decision of a plan for a resource.
func (w *Writer) decide(ctx context.Context, v *host.View, typ, name string, properties *schema.Table) (d resource.Decision, r *resource.Resource, state any, err error) {
	t := w.Registry.Type(typ)
	if t == nil {
		return d, nil, nil, ownReason("no such type: " + typ)
	}
	tab := &schema.Table{Entries: append([]schema.Entry{{Key: t.Schema().Name().Name, Val: schema.StringValue(name)}}, properties.Entries...)}
	if r, err = t.Decode(tab, resource.Origin{}); err != nil {
		return d, nil, nil, err
	}
	if err = w.Registry.MayWork(v, r); err != nil {
		return d, r, nil, err
	}
	b, err := w.Registry.Select(r, w.Facts)
	if err != nil {
		return d, r, nil, err
	}
	if state, err = b.Status(ctx, v, r.Spec); err != nil {
		return d, r, nil, err
	}
	return t.Decide(r.Spec, state, false), r, state, nil
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
func (w *Writer) attributes(d *declaration, info host.Info) {
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

// without returns properties without one.
func without(tab *schema.Table, key string) *schema.Table {
	return &schema.Table{Entries: slices.DeleteFunc(slices.Clone(tab.Entries), func(e schema.Entry) bool { return e.Key == key })}
}

// isPlain reports whether a text can be in a script: it has no characters that a terminal acts on.
func isPlain(text string) bool {
	return utf8.ValidString(text) && !strings.ContainsFunc(text, func(c rune) bool { return c != '\n' && c != '\t' && !unicode.IsPrint(c) })
}

// isShowable reports whether a text in a script is shown as it is: control characters are escaped there, unless it has
// several lines.
func isShowable(text string) bool {
	return isPlain(text) || utf8.ValidString(text) && !strings.Contains(text, "\n") &&
		!strings.ContainsFunc(text, func(c rune) bool { return c > 0x7f && !unicode.IsPrint(c) })
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
	return nil, ownReason("changed while it was read")
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
		d.literals = map[string]string{placeholder: `secret.age "../` + at + `"`}
	}
	return one(d), nil
}

// addressIn returns the first address of IPv4 in a text that is not one of every machine, "" if there is none.
func addressIn(text string) string {
	for _, word := range strings.FieldsFunc(text, func(c rune) bool { return c != '.' && (c < '0' || c > '9') }) {
		f := strings.Split(word, ".")
		ok := len(f) == 4 && f[0] != "127" && f[0] != "0" && f[0] != "255"
		for _, part := range f {
			n, err := strconv.Atoi(part)
			ok = ok && err == nil && n < 256
		}
		if ok {
			return word
		}
	}
	return ""
}

// perMachine returns what in a text differs between machines, "" if nothing was found.
func perMachine(text string, v *host.View) string {
	name, _ := v.ReadText("/etc/hostname", largestFile)
	if name = firstWord(name); len(name) > 2 && isPlain(name) && containsWord(text, name) {
		return "the host name"
	}
	if addr := addressIn(text); addr != "" {
		return "the address " + addr
	}
	return ""
}

// containsWord reports whether a text contains a word, not as a part of another one.
func containsWord(text, word string) bool {
	isPart := func(c byte) bool {
		return c == '-' || c == '_' || c >= '0' && c <= '9' || c|0x20 >= 'a' && c|0x20 <= 'z'
	}
	for from := 0; ; {
		i := strings.Index(text[from:], word)
		if i < 0 {
			return false
		}
		i += from
		end := i + len(word)
		if (i == 0 || !isPart(text[i-1])) && (end == len(text) || !isPart(text[end])) {
			return true
		}
		from = i + 1
	}
}

// refreshes adds the commands that apply changed files.
func (w *Writer) refreshes(ctx context.Context) {
	for _, r := range []struct{ command, prefix string }{
		{"sysctl --system", "/etc/sysctl"}, {"udevadm control --reload", "/etc/udev/rules.d/"},
	} {
		var files []string
		for _, d := range w.blocks[systemPart] {
			if d.typ == "file" && strings.HasPrefix(d.name, r.prefix) {
				files = append(files, "file#"+d.name)
			}
		}
		if len(files) > 0 {
			d := newDeclaration("exec", r.command).set("refreshonly", schema.BoolValue(true)).list("subscribe", files)
			w.declare(ctx, "exec#"+r.command, systemPart, one(d), nil)
		}
	}
}

// quoted returns a name for a comment or for Markdown: on one line, without characters that a terminal acts on.
func quoted(name string) string {
	if !isPlain(name) || strings.ContainsAny(name, "\n\t`") {
		return strings.ReplaceAll(strconv.QuoteToASCII(name), "`", `\x60`)
	}
	return name
}

// part writes lib/PART.lua.
func (w *Writer) part(part string) {
	var out bytes.Buffer
	for _, block := range w.order {
		if name, title, _ := strings.Cut(block, ":"); name == part {
			if title != "" {
				fmt.Fprintf(&out, "\n-- %s\n", quoted(title))
			}
			w.block(&out, w.blocks[block])
		}
	}
	if out.Len() > 0 {
		text := "-- " + headers[part] + "\n"
		if out.Bytes()[0] != '\n' {
			text += "\n"
		}
		w.add("lib/"+part+".lua", append([]byte(text), out.Bytes()...), 0o644)
	}
}

// block writes declarations.
func (w *Writer) block(out *bytes.Buffer, list []*declaration) {
	for len(list) > 0 {
		d, n := list[0], 1
		for _, remark := range d.remarks {
			fmt.Fprintf(out, "-- %s\n", quoted(remark))
		}
		for len(d.literals) == 0 && n < len(list) && len(list[n].remarks)+len(list[n].literals) == 0 {
			n++
		}
		if len(d.remarks) > 0 {
			n = 1
		}
		m := new(manifest.Manifest)
		for _, d := range list[:n] {
			m.Resources = append(m.Resources, manifest.ResolvedResource{Type: w.Registry.Type(d.typ), Name: d.name, Properties: d.properties})
		}
		var text strings.Builder
		_ = m.Convert(&text) // a strings.Builder does not fail
		lua := text.String()
		for placeholder, expression := range d.literals {
			lua = strings.Replace(lua, strconv.Quote(placeholder), expression, 1)
		}
		out.WriteString(lua)
		list = list[n:]
	}
}

// site writes site.lua.
func (w *Writer) site(s *Scan) {
	var text strings.Builder
	fmt.Fprintf(&text, "-- The machine %s, imported with ccm import machine. README.md lists what was left out.\n", machineName(s))
	text.WriteString("--   ccm plan site.lua\n")
	for _, part := range parts {
		if slices.ContainsFunc(w.out.Files, func(f SiteFile) bool { return f.Name == "lib/"+part+".lua" }) {
			fmt.Fprintf(&text, "require %q\n", part)
		}
	}
	w.add("site.lua", []byte(text.String()), 0o644)
}

func machineName(s *Scan) string {
	name := strings.TrimSpace(s.Hostname)
	if name == "" {
		name = "(no host name)"
	}
	if s.Distribution != "" {
		name += " (" + s.Distribution + ")"
	}
	return quoted(name)
}

// readme writes README.md.
func (w *Writer) readme(s *Scan) {
	var text strings.Builder
	fmt.Fprintf(&text, "# Machine %s\n\nWritten by `ccm import machine`. On the same machine, a plan has nothing to do:\n\n    ccm plan site.lua\n\n", machineName(s))
	text.WriteString("## Found\n\n")
	count := map[string]int{}
	for _, i := range s.Items {
		count[string(i.Kind)]++
	}
	for _, kind := range sortedKeys(count) {
		fmt.Fprintf(&text, "- %s: %d\n", kind, count[kind])
	}
	fmt.Fprintf(&text, "\nThe site declares %d resources.\n", w.out.Declared)
	if w.out.Encrypted > 0 {
		fmt.Fprintf(&text, "%d files with secrets are encrypted (`ccm secret ls`).\n", w.out.Encrypted)
	}
	text.WriteString("\n## Left out\n\n")
	left := slices.Clone(w.out.LeftOut)
	slices.SortFunc(left, func(a, b LeftOut) int { return strings.Compare(a.Name+"\x00"+a.Reason, b.Name+"\x00"+b.Reason) })
	w.out.LeftOut = slices.Compact(left)
	for _, l := range w.out.LeftOut {
		if w.holdsSecret(l.Name) {
			dir := path.Dir(l.Name) // tells the reader where to look
			if l.Name = "a name that may contain a secret"; dir != "." && !w.holdsSecret(dir) {
				l.Name += ", in " + dir
			}
		}
		fmt.Fprintf(&text, "- `%s`: %s\n", quoted(l.Name), quoted(l.Reason))
	}
	if len(w.out.LeftOut) == 0 {
		text.WriteString("Nothing.\n")
	}
	text.WriteString("\nNot searched: home directories, databases, debconf, versions of packages, and data in /var.\n" +
		"Secrets without a usual form are not recognized: check the files before you commit them.\n")
	w.add("README.md", []byte(text.String()), 0o644)
}

// check looks for known secrets in all files of the site that are not encrypted.
func (w *Writer) check() error {
	for _, f := range w.out.Files {
		if !strings.HasSuffix(f.Name, encryption.Suffix) && w.holdsKnown(string(f.Content)) {
			return fmt.Errorf("%s would contain a secret of the machine in plain text; nothing was written", path.Base(f.Name))
		}
	}
	return nil
}
