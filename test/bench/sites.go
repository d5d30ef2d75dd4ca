//go:build linux

package main

import (
	"bytes"
	_ "embed"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"text/template"
)

// A site is resources of one type, for ccm and for peers.
type site struct {
	Type        string
	Items       []item
	User, Group string
}

// An item is one resource. The properties of a file that all items have are left out:
// it is present, belongs to the user and group of the site and has mode 0644.
type item struct {
	Name     string
	Own      []property
	Requires []string
}

type property struct{ Name, Value string }

// Get returns a property of an item, "" if it has none of the name.
func (i item) Get(name string) string {
	for _, p := range i.Own {
		if p.Name == name {
			return p.Value
		}
	}
	return ""
}

//go:embed sites.tmpl
var siteTexts string

var siteTemplates = template.Must(template.New("").Funcs(template.FuncMap{"q": strconv.Quote}).Parse(siteTexts))

// text writes a site in the language of ccm (lua, yaml) or of a peer, by its name.
func (s site) text(language string) string {
	var b strings.Builder
	if err := siteTemplates.ExecuteTemplate(&b, language, s); err != nil {
		panic(err) // a mistake in the template
	}
	return b.String()
}

// site returns one without resources.
func (b *bench) site(typ string) site { return site{Type: typ, User: b.user, Group: b.group} }

// languages are those of ccm, in the order of the table.
var languages = []string{"lua", "yaml"}

// scripts returns a program for a site in each language of ccm.
func (b *bench) scripts(name string, s site, make func(file string) *program) (list []*program, err error) {
	for _, language := range languages {
		file, err := b.write(name+"."+language, s.text(language))
		if err != nil {
			return nil, err
		}
		list = append(list, make(file))
	}
	return list, nil
}

// size is how long the content of each file is.
const size = 1024

// pad is what the contents of all files end with: plain letters on one line,
// which no language reads anything into, and Choria's ccm takes.
var pad = strings.Repeat("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789ab", size/64)[:size-8]

// content returns the content of file i: no two are the same.
func content(i int) string { return fmt.Sprintf("%08d", i) + pad }

// files are n files in a directory.
type files struct {
	dir string
	n   int
}

func (f files) path(i int) string { return filepath.Join(f.dir, fmt.Sprintf("f%06d.conf", i)) }

// literal declares every file by itself.
func (f files) literal(s site) site {
	for i := range f.n {
		s.Items = append(s.Items, item{Name: f.path(i), Own: []property{{"content", content(i)}}})
	}
	return s
}

// loop declares the files in a loop. A manifest has none.
func (f files) loop(b *bench) (string, error) {
	return b.write(fmt.Sprintf("loop-%s-%d.lua", filepath.Base(f.dir), f.n), fmt.Sprintf(`local pad = %q
for i = 0, %d do
  file {
    string.format("%s/f%%06d.conf", i),
    content = string.format("%%08d", i) .. pad, owner = %q, group = %q, mode = "0644",
  }
end
`, pad, f.n-1, f.dir, b.user, b.group))
}

// fill makes the files what they should be.
func (f files) fill() error {
	err := os.MkdirAll(f.dir, 0o755)
	for i := 0; i < f.n && err == nil; i++ {
		err = errors.Join(os.WriteFile(f.path(i), []byte(content(i)), 0o644), os.Chmod(f.path(i), 0o644))
	}
	return err
}

// drift overwrites one file in a hundred.
func (f files) drift() (err error) {
	for i := 0; i < f.n; i += 100 {
		err = errors.Join(err, os.WriteFile(f.path(i), []byte("drifted"+content(i)[7:]), 0o644))
	}
	return err
}

// drifted returns how many files drift overwrites.
func (f files) drifted() int { return (f.n + 99) / 100 }

// check reports files that are not as they should be.
func (f files) check() error {
	for i := range f.n {
		if have, err := os.ReadFile(f.path(i)); err != nil || string(have) != content(i) {
			return fmt.Errorf("%s is not as it should be: %w", f.path(i), err)
		}
		if fi, err := os.Stat(f.path(i)); err != nil || fi.Mode() != 0o644 {
			return fmt.Errorf("%s does not have mode 0644", f.path(i))
		}
	}
	return nil
}

// checkAll is check, and reports files that should not be there.
func (f files) checkAll() error {
	if err := f.check(); err != nil {
		return err
	}
	names, err := os.ReadDir(f.dir)
	if err == nil && len(names) != f.n {
		err = fmt.Errorf("%d files in %s instead of %d", len(names), f.dir, f.n)
	}
	return err
}

// lists writes what the floor reads: the names and contents of files.
func (f files) lists(dir string) (list, data string, err error) {
	var names, contents bytes.Buffer
	for i := range f.n {
		names.WriteString(f.path(i) + "\n")
		contents.WriteString(content(i))
	}
	base := filepath.Join(dir, fmt.Sprintf("%s-%d", filepath.Base(f.dir), f.n))
	list, data = base+".list", base+".data"
	return list, data, errors.Join(os.WriteFile(list, names.Bytes(), 0o644), os.WriteFile(data, contents.Bytes(), 0o644))
}

// bigFile writes n bytes that differ from block to block.
func bigFile(name string, n int64) error {
	f, err := os.Create(name)
	if err != nil {
		return err
	}
	block := []byte(strings.Repeat(pad, (1<<20)/len(pad)+1)[:1<<20])
	for k := int64(0); k*int64(len(block)) < n; k++ {
		copy(block, fmt.Sprintf("%08d", k))
		if _, err := f.Write(block[:min(int64(len(block)), n-k*int64(len(block)))]); err != nil {
			return errors.Join(err, f.Close())
		}
	}
	return errors.Join(f.Chmod(0o644), f.Close())
}
