package machine

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"path"
	"slices"
	"strings"

	"github.com/luaccm/ccm/runtime/diag"
	"github.com/luaccm/ccm/runtime/encryption"
	"github.com/luaccm/ccm/runtime/facts"
	"github.com/luaccm/ccm/runtime/host"
	"github.com/luaccm/ccm/runtime/resource"
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
	// Versions is set if the packages have the versions of this machine.
	Versions bool
	// Like are the contents of a second machine, which the site is for, too; nil for none.
	Like *Contents

	audience   *encryption.Audience
	recipients string // the file of recipients
	known      []string
	out        *Site
	read       map[string]*content
	blocks     map[string][]*declaration
	order      []string
	names      map[string]bool // the declared resources, by their IDs
	unmanaged  []LeftOut       // the lines of UnmanagedFile
	hosts      []string        // this one and that of Like, if there is one
	differing  []difference    // what differs between them
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
	Name    string `json:"name"`
	Content []byte `json:"content"`
	Mode    uint32 `json:"mode"`
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

// Write returns the site for a scan. The error is one of ctx, of the recipients, or of Like.
func (w *Writer) Write(ctx context.Context, s *Scan) (*Site, error) {
	c, err := w.Contents(ctx, s)
	if err != nil {
		return nil, err
	}
	return w.WriteContents(c)
}

// WriteContents returns the site for contents. They may come from another machine, and are not trusted: of a Writer, it
// needs only the Registry. The error names what is wrong in them or in Like.
func (w *Writer) WriteContents(c *Contents) (_ *Site, err error) {
	w.out, w.hosts, w.differing, w.unmanaged = &Site{LeftOut: c.LeftOut}, nil, nil, nil
	if w.order, w.blocks, err = w.declarations(c.Resources); err != nil {
		return nil, err
	}
	if err := w.leaveAlone(c.Unmanaged); err != nil {
		return nil, err
	}
	if _, err := encryption.ReadRecipients(encryption.RecipientsFile, c.Recipients); c.Recipients != "" && err != nil {
		return nil, err
	}
	if w.Like != nil {
		if err := w.merge(c.Host, w.Like); err != nil {
			return nil, err
		}
	}
	for _, block := range w.order {
		w.out.Declared += len(w.blocks[block])
		for _, d := range w.blocks[block] {
			w.out.Encrypted += d.encrypted
			for _, f := range d.files {
				w.add(f.Name, f.Content, f.Mode)
			}
		}
	}
	for _, part := range parts {
		w.part(part)
	}
	w.site(&c.Scan)
	if err := w.writeData(); err != nil {
		return nil, err
	}
	w.writeUnmanaged()
	w.readme(c)
	if c.Recipients != "" && w.out.Encrypted > 0 {
		w.add(encryption.RecipientsFile, []byte(c.Recipients), 0o644)
	}
	return w.out, w.check()
}

// collect makes the declarations.
func (w *Writer) collect(ctx context.Context, s *Scan) error {
	w.order, w.hosts, w.differing, w.unmanaged = nil, nil, nil, []LeftOut{}
	w.out, w.read, w.blocks, w.names = &Site{LeftOut: slices.Clone(s.LeftOut)}, map[string]*content{}, map[string][]*declaration{}, map[string]bool{}
	if err := w.addressees(s); err != nil {
		return err
	}
	w.readContents(s)
	p := newPlacer(w, s)
	for _, first := range []bool{true, false} { // repositories come before packages
		for _, i := range s.Items {
			if err := ctx.Err(); err != nil {
				return err
			}
			if block := p.place(i); (block == repositoriesBlock) == first {
				w.item(ctx, i, block, p)
			}
		}
	}
	w.refreshes(ctx)
	p.services(ctx)
	return nil
}

func (w *Writer) add(name string, content []byte, mode uint32) {
	w.out.Files = append(w.out.Files, SiteFile{name, content, mode})
}

// An ownReason is a reason to leave out something that quotes nothing of the machine.
type ownReason string

// Error implements error.
func (r ownReason) Error() string { return string(r) }

// leave notes that an item is not in the site.
func (w *Writer) leave(name string, err error) {
	w.out.LeftOut = append(w.out.LeftOut, LeftOut{name, w.reason(err)})
}

// reason returns the text of an error. One of others may quote a secret.
func (w *Writer) reason(err error) string {
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
	return reason
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

// check looks for known secrets in all files of the site that are not encrypted.
func (w *Writer) check() error {
	for _, f := range w.out.Files {
		if !strings.HasSuffix(f.Name, encryption.Suffix) && w.holdsKnown(string(f.Content)) {
			return diag.Cannot("write", path.Base(f.Name), diag.Contains("it", "a secret of the machine in plain text"))
		}
	}
	return nil
}
