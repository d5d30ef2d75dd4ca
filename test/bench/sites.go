//go:build linux

package main

import (
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
	Type             string
	Items            []item
	User, Group, Dir string
}

// An item is one resource. The properties of a file that all items have are left out:
// it is present, belongs to the user and group of the site and has mode 0644.
type item struct {
	Name     string
	Own      map[string]string // properties
	Requires []string
}

//go:embed sites.tmpl
var siteTexts string

var siteTemplates = template.Must(template.New("").Funcs(template.FuncMap{"q": strconv.Quote, "pad": func() string { return pad }}).Parse(siteTexts))

// text writes a site in the language of ccm (loop, lua, yaml) or of a peer, by its name.
func (s site) text(language string) string {
	var b strings.Builder
	if err := siteTemplates.ExecuteTemplate(&b, language, s); err != nil {
		panic(err) // a mistake in the template
	}
	return b.String()
}

// pad is the end of the contents of all files: letters and digits on one line, without a special
// meaning in any of the languages.
var pad = strings.Repeat("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789ab", 16)[:1024-8]

func nothing(string, int) ([]item, error) { return nil, nil }

// files have contents of 1 KiB, of which no two are the same.
func files(dir string, n int) (items []item, err error) {
	for i := range n {
		items = append(items, item{Name: filepath.Join(dir, fmt.Sprintf("f%06d.conf", i)), Own: map[string]string{"content": fmt.Sprintf("%08d", i) + pad}})
	}
	return items, nil
}

// execs need not run, because what they create is there.
func execs(dir string, n int) (items []item, err error) {
	for i := range n {
		guard := filepath.Join(dir, fmt.Sprintf("g%06d", i))
		err = errors.Join(err, os.WriteFile(guard, nil, 0o644))
		items = append(items, item{Name: fmt.Sprint("e", i), Own: map[string]string{"command": "/bin/true", "creates": guard}})
	}
	return items, err
}

// expressions are execs with four expressions each, of which no two are the same text.
func expressions(dir string, n int) (items []item, err error) {
	for i := range n {
		command := fmt.Sprintf("/bin/true ${ lookup('data.a%d', 'a') } ${ Environ.PATH ?? '%d' } ${ 'b' + 'c%d' }", i, i, i)
		items = append(items, item{Name: fmt.Sprint("e", i), Own: map[string]string{"command": command, "creates": fmt.Sprintf("%s${ Data.d%d ?? '' }", dir, i)}})
	}
	return items, nil
}

// edges are execs of which each requires three earlier ones.
func edges(dir string, n int) (items []item, err error) {
	for i := range n {
		x := item{Name: fmt.Sprint("e", i), Own: map[string]string{"command": "/bin/true", "creates": dir}}
		if i > 3 {
			for _, k := range []int{i / 2, i * 7 / 10, i - 1} {
				x.Requires = append(x.Requires, fmt.Sprint("exec#e", k))
			}
		}
		items = append(items, x)
	}
	return items, nil
}

// big is a file of n MiB with a source that is the same, short is one byte shorter than its source.
func big(dir string, n int) ([]item, error)   { return bigFile(dir, n, 0) }
func short(dir string, n int) ([]item, error) { return bigFile(dir, n, 1) }

func bigFile(dir string, n int, less int64) ([]item, error) {
	source, target := filepath.Join(dir, "source"), filepath.Join(dir, "target")
	block := []byte(strings.Repeat(pad, (1<<20)/len(pad)+1)[:1<<20])
	for _, name := range []string{source, target} {
		f, err := os.Create(name)
		for k := 0; k < n && err == nil; k++ {
			copy(block, fmt.Sprintf("%08d", k)) // so that no two blocks are the same
			_, err = f.Write(block)
		}
		if err = errors.Join(err, f.Chmod(0o644), f.Close()); err != nil {
			return nil, err
		}
	}
	return []item{{Name: target, Own: map[string]string{"source": source}}}, os.Truncate(target, int64(n)<<20-less)
}

// errFewer says that this machine has too few things of a kind for a load.
var errFewer = errors.New("fewer are here")

// listedItems returns a function that makes items of n of the names that a command prints. They are
// all as wanted: the command prints only things in the state ensure.
func listedItems(ensure, command string) func(string, int) ([]item, error) {
	return func(_ string, n int) (items []item, err error) {
		said, _ := shell(command)
		names := strings.Fields(said)
		if len(names) < n {
			return nil, errFewer
		}
		for i := range n {
			items = append(items, item{Name: names[i*len(names)/n], Own: map[string]string{"ensure": ensure}})
		}
		return items, nil
	}
}

// contents reports whether items are files with a content, and not with a source.
func contents(items []item) bool { return len(items) > 0 && items[0].Own["content"] != "" }

// fill writes one in oneIn files: the wanted content, with begin in the place of its first bytes.
func fill(items []item, oneIn int, begin string) (err error) {
	for i := 0; i < len(items) && contents(items); i += oneIn {
		text := begin + items[i].Own["content"][len(begin):]
		err = errors.Join(err, os.WriteFile(items[i].Name, []byte(text), 0o644), os.Chmod(items[i].Name, 0o644))
	}
	return err
}

// checkFiles returns an error if a file is not as wanted or if a directory that was empty before the
// command has other files, too.
func checkFiles(items []item, empty bool) error {
	if !contents(items) {
		return nil
	}
	for _, x := range items {
		have, err := os.ReadFile(x.Name)
		if fi, failed := os.Stat(x.Name); err != nil || failed != nil || string(have) != x.Own["content"] || fi.Mode() != 0o644 {
			return fmt.Errorf("%s is not as it should be", filepath.Base(x.Name))
		}
	}
	names, err := os.ReadDir(filepath.Dir(items[0].Name))
	if err == nil && empty && len(names) != len(items) {
		err = fmt.Errorf("%d files instead of %d", len(names), len(items))
	}
	return err
}
