package encryption

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/luaccm/ccm/runtime/diag"
)

// An Item is an encrypted file or value.
type Item struct {
	File string
	// Key is "" for a whole file.
	Key string
	// Text is the encrypted value, "" for a whole file.
	Text string
	*Description
	// Err is the reason why the description could not be read.
	Err error
}

// String returns FILE: KEY, or FILE for a whole file.
func (i Item) String() string { return Place{i.File, i.Key}.String() }

// A Finder finds encrypted files and values in a directory tree.
type Finder struct {
	// SyntaxOf returns the syntax of a file, nil if it can have no encrypted values.
	SyntaxOf func(file string) Syntax
	ReadFile func(path string) ([]byte, error)
}

// Find returns the items in a file, or below a directory in the order of paths. It skips hidden directories and does
// not follow links.
func (f *Finder) Find(root string) ([]Item, error) {
	info, err := os.Stat(root)
	if err != nil {
		return nil, err
	}
	if !info.IsDir() {
		return f.in(root)
	}
	var items []Item
	err = filepath.WalkDir(root, func(path string, entry fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case entry.IsDir():
			if path != root && strings.HasPrefix(entry.Name(), ".") {
				return fs.SkipDir
			}
			return nil
		case !entry.Type().IsRegular():
			return nil
		}
		if filepath.Ext(path) != Suffix && f.SyntaxOf(path) == nil {
			return nil
		}
		more, err := f.in(path)
		items = append(items, more...)
		return err
	})
	return items, err
}

func (f *Finder) in(path string) ([]Item, error) {
	text, err := f.ReadFile(path)
	if err != nil {
		return nil, err
	}
	if IsFile(text) || filepath.Ext(path) == Suffix {
		desc, err := Describe(text)
		return []Item{{File: path, Description: desc, Err: err}}, nil
	}
	s := f.SyntaxOf(path)
	if s == nil || !bytes.Contains(text, []byte(valueBegin)) {
		return nil, nil
	}
	values, err := Values(s, string(text))
	if err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	var items []Item
	for _, v := range values {
		desc, err := DescribeValue(v.Text)
		items = append(items, Item{File: path, Key: v.Key, Text: v.Text, Description: desc, Err: err})
	}
	return items, nil
}

// A Change is the difference between the readers of an item and the present recipients.
type Change struct {
	Item
	// To is the audience that the item is to be encrypted to.
	To *Audience
	// Added, Removed and Renewed are names. The key of a renewed recipient has changed.
	Added, Removed, Renewed []string
	// Revoked are names of present readers whose key is no longer in the file of recipients.
	Revoked []string
}

// IsNone reports whether the readers are right already.
func (c *Change) IsNone() bool { return len(c.Added)+len(c.Removed)+len(c.Renewed) == 0 }

// ErrNoNames is returned for an item whose header does not name its recipients.
var ErrNoNames = errors.New("recipients unknown, because ccm did not encrypt it: set them with --for")

// ChangeOf compares the readers of an item with the recipients. names are the wanted recipients; without names they
// are those in the header of the item that still exist.
func (r *Recipients) ChangeOf(item Item, names []string) (*Change, error) {
	if item.Err != nil {
		return nil, fmt.Errorf("%s: %w", item, item.Err)
	}
	if len(names) == 0 {
		known := r.names()
		for _, n := range item.For {
			if slices.Contains(known, n) {
				names = append(names, n)
			}
		}
		switch {
		case len(item.For) == 0:
			return nil, fmt.Errorf("%s: %w", item, ErrNoNames)
		case len(names) == 0:
			return nil, fmt.Errorf("%s: %w (set others with --for)", item, diag.None("recipient of it is left in %s: it is encrypted to %s", r.File, strings.Join(item.For, ", ")))
		}
	}
	to, err := r.Audience(names...)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", item, err)
	}
	c := &Change{Item: item, To: to}
	add := func(list *[]string, name string) {
		if !slices.Contains(*list, name) {
			*list = append(*list, name)
		}
	}
	had := item.Readers()
	var now []string
	for _, k := range to.Keys {
		add(&now, k.Name)
		switch {
		case !slices.Contains(had, k.Name):
			add(&c.Added, k.Name)
		case !slices.Contains(item.Keys, KeyDigest{k.Name, k.Digest()}):
			add(&c.Renewed, k.Name)
		}
	}
	everybody := &Audience{Keys: r.Keys}
	for _, k := range item.Keys {
		switch {
		case !slices.Contains(now, k.Name):
			add(&c.Removed, k.Name)
		case !to.has(k):
			add(&c.Renewed, k.Name)
		}
		if !everybody.has(k) {
			add(&c.Revoked, k.Name)
		}
	}
	return c, nil
}

// Rekey returns the text of a file with the items of all changes encrypted again. The changes must be for this file.
func (d *Decrypter) Rekey(s Syntax, file string, text []byte, changes []*Change) ([]byte, error) {
	for _, c := range changes {
		if c.Key == "" {
			plain, err := d.File(file, text)
			if err != nil {
				return nil, err
			}
			out, err := Encrypt(plain, c.To, !bytes.HasPrefix(text, []byte(intro)))
			if err != nil {
				err = fmt.Errorf("%s: %w", file, err)
			}
			return out, err
		}
		plain, err := d.Value(c.Text, file, c.Key)
		if err != nil {
			return nil, err
		}
		enc, err := EncryptValue(plain, c.To, placeOf(file, c.Key))
		if err != nil {
			return nil, fmt.Errorf("%s: %s: %w", file, c.Key, err)
		}
		out, err := s.Set(string(text), c.Key, enc)
		if err != nil {
			return nil, fmt.Errorf("%s: %s: %w", file, c.Key, err)
		}
		text = []byte(out)
	}
	return text, nil
}
