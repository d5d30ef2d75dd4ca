package overlay

import (
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"github.com/luaccm/ccm/runtime/diag"
	"github.com/luaccm/ccm/runtime/host/command"
	"github.com/luaccm/ccm/runtime/lazyregexp"
	"github.com/luaccm/ccm/runtime/safepath"
)

// A plan cannot run a command on assumed files. So it answers the questions of test(1) about
// files itself, and refuses to run programs that do not exist yet. For other commands it records
// which pending resources may change what they see.

// Commands answers commands in a plan.
type Commands struct{ o *View }

// Commands returns the Commands of the view.
func (o *View) Commands() Commands { return Commands{o} }

// Query answers a command without running it, if it can. Otherwise the caller has to run the
// command.
func (x Commands) Query(c command.Cmd) (res command.Result, answered bool, err error) {
	o := x.o
	if o.looks == nil || len(c.Argv) == 0 {
		return res, false, nil
	}
	if c.As != nil {
		for _, id := range []uint32{c.As.UID, c.As.GID} {
			key, ok := o.ofPlaceholder(id)
			if !ok {
				continue
			}
			missing := &NotKnownError{Path: map[LookKind]string{UserLook: "user ", GroupLook: "group "}[key.kind] + key.name}
			if e := accountOf(o, key); e != nil {
				missing.Author = e.author
				o.looks.doubt(e.author)
			} else {
				o.looks.note(Look{Kind: key.kind, Name: key.name}) // Login was granted the account, and did not note the look
			}
			return res, true, missing
		}
	}
	if yes, ok := test(o, c); ok {
		if !yes {
			res.Code = 1
		}
		return res, true, nil
	}
	file, granted, err := x.lookPath(rootOf(o, c), c.Argv[0], c.Path, c.Dir)
	if err == nil && granted {
		err = &NotKnownError{Path: file}
	}
	if err != nil {
		return res, true, err
	}
	if name, ok := ofMachine(o.base.Root(), file); ok {
		p, err := o.find(name, true)
		if err == nil && !p.entry.asIs() && p.entry.Kind == safepath.Regular {
			o.looks.doubt(p.entry.author)
			return res, true, &NotKnownError{name, p.entry.author}
		}
	}
	paths := doubtWords(o, c)
	o.looks.add(Look{Kind: CommandLook, Name: c.String(), Found: true})
	if pathReaders[path.Base(c.Argv[0])] {
		reads := make([]Look, len(paths))
		for i, p := range paths {
			at, err := o.find(p, true)
			reads[i] = Look{Kind: TreeLook, Name: p, Found: err == nil && at.info.Kind != safepath.Missing}
		}
		o.looks.noteReads(c.String(), reads)
	}
	return res, false, nil
}

// pathReaders are programs whose result depends on nothing but the paths among their arguments.
var pathReaders = map[string]bool{
	"[": true, "basename": true, "cat": true, "cmp": true, "diff": true, "dirname": true, "egrep": true, "false": true, "fgrep": true,
	"grep": true, "head": true, "ls": true, "md5sum": true, "readlink": true, "realpath": true, "sha256sum": true, "stat": true, "tail": true,
	"test": true, "true": true, "wc": true,
}

// LookPath finds a command like command.LookPath, with assumed effects. A relative name with a
// slash begins in dir.
func (x Commands) LookPath(name, list, dir string) (string, error) {
	file, _, err := x.lookPath(x.o.base.CommandRoot(), name, list, dir)
	return file, err
}

// Find returns an error if the program of a command is missing. It looks below the root of the command.
func (x Commands) Find(c command.Cmd) error {
	_, _, err := x.lookPath(rootOf(x.o, c), c.Argv[0], c.Path, c.Dir)
	return err
}

// lookPath is LookPath for a command that has root as its root. Granted says that it is missing, and counts as there.
func (x Commands) lookPath(root, name, list, dir string) (file string, granted bool, err error) {
	o := x.o
	if strings.Contains(name, "/") {
		file := filepath.Join(root, name)
		if !filepath.IsAbs(name) {
			file = filepath.Join(o.base.Root(), dir, name)
		}
		isFile := isExecutable(o, file)
		if !o.looks.add(Look{Kind: ProgramLook, Name: file, Found: isFile}) {
			if root != "/" {
				return "", false, &command.NotFoundError{Name: name, Dirs: []string{root}}
			}
			return "", false, diag.ProgramNotFound("command %q", name)
		}
		return file, !isFile, nil
	}
	switch {
	case list == "" && root == "/":
		list = os.Getenv("PATH")
	case list == "":
		list = command.DefaultPath
	}
	for _, dir := range filepath.SplitList(list) {
		if file := filepath.Join(root, dir, name); filepath.IsAbs(dir) && isExecutable(o, file) {
			o.looks.add(Look{Kind: ProgramLook, Name: name, Found: true})
			return file, false, nil
		}
	}
	if o.looks.add(Look{Kind: ProgramLook, Name: name}) {
		return name, true, nil
	}
	return "", false, &command.NotFoundError{Name: name, Dirs: filepath.SplitList(list)}
}

// isExecutable reports whether a file of the operating system is an executable program.
func isExecutable(o *View, file string) bool {
	name, ok := ofMachine(o.base.Root(), file)
	if !ok {
		fi, err := os.Stat(file)
		return err == nil && fi.Mode().IsRegular() && fi.Mode()&0o111 != 0
	}
	p, err := o.find(name, true)
	if err != nil {
		return false
	}
	if len(p.doubts) > 0 {
		o.looks.doubt(p.doubts...)
	}
	return p.vague || p.info.Kind == safepath.Regular && p.info.Mode&0o111 != 0
}

var (
	pathText = lazyregexp.New(`/[^\s"'` + "`" + `;|&<>()$*?,:=\\]+`)
	wordText = lazyregexp.New(`[^\s"'` + "`" + `;|&<>()$,=\\]+`)
)

// scriptLimit is the number of bytes of a script that are searched for paths.
const scriptLimit = 64 << 10

// Text returns the words of a command and, in a plan, the text of the scripts among them.
func (x Commands) Text(c command.Cmd) string {
	var b strings.Builder
	for _, word := range c.Argv {
		b.WriteString(word + "\n")
		if text, ok := script(x.o, c, word); ok {
			b.WriteString(text + "\n")
		}
	}
	b.Write(c.Stdin)
	for _, entry := range c.Env {
		b.WriteString("\n" + entry)
	}
	return b.String()
}

// rootOf returns the directory that a command has as its root.
func rootOf(o *View, c command.Cmd) string {
	if c.BelowRoot {
		return "/"
	}
	return o.base.CommandRoot()
}

// commandPath returns the path of the operating system that a word of a command names, or "".
func commandPath(o *View, c command.Cmd, word string) string {
	if filepath.IsAbs(word) {
		return filepath.Join(rootOf(o, c), word)
	}
	return filepath.Join(o.base.Root(), c.Dir, word)
}

// script returns the text of a small script that a word of a command names.
func script(o *View, c command.Cmd, word string) (string, bool) {
	if o == nil {
		return "", false
	}
	name, inside := ofMachine(o.base.Root(), commandPath(o, c, word))
	if !inside {
		return "", false
	}
	p, err := o.find(name, true)
	if err != nil || p.info.Kind != safepath.Regular || p.info.Size > scriptLimit {
		return "", false
	}
	f, err := o.Recording(nil).openPlace(p)
	if err != nil {
		return "", false
	}
	defer f.Close()
	text, err := safepath.ReadUpTo(f, scriptLimit)
	if err != nil || strings.IndexByte(string(text), 0) >= 0 {
		return "", false
	}
	return string(text), true
}

// doubtWords records the pending resources that change what a command names: files, users and
// groups. It returns the paths that the command names.
func doubtWords(o *View, c command.Cmd) (paths []string) {
	text := o.Commands().Text(c)
	paths = o.Commands().Paths(c, text)
	if !o.active.Load() {
		return paths
	}
	for _, name := range paths {
		o.looks.doubt(changers(o, name)...)
	}
	doubtAccounts(o, c, text, paths)
	return paths
}

// Paths returns the paths of the machine in the text of a command.
func (x Commands) Paths(c command.Cmd, text string) (list []string) {
	o := x.o
	names := PathsInText(text)
	for i, name := range names {
		names[i] = commandPath(o, c, name)
	}
	for _, word := range wordText().FindAllString(text, -1) {
		if !strings.HasPrefix(word, "/") && !strings.HasPrefix(word, "-") {
			names = append(names, commandPath(o, c, word))
		}
	}
	slices.Sort(names)
	for _, file := range slices.Compact(names) {
		if name, ok := ofMachine(o.base.Root(), file); ok && name != "/" && !o.base.InScratch(name) {
			list = append(list, name)
		}
	}
	return list
}

// PathsInText returns the absolute paths in a text.
func PathsInText(text string) []string { return pathText().FindAllString(text, -1) }

// DependsOn records that the look depends on some paths and what is below them.
func (o *View) DependsOn(names ...string) {
	if o.Looks() == nil {
		return
	}
	for _, name := range names {
		o.looks.doubt(changers(o, name)...)
	}
}

// changers returns the authors who change a path, or anything above or below it.
func changers(o *View, name string) []any {
	var list []any
	for at := path.Clean(name); at != "/"; at = path.Dir(at) {
		if e := o.at(at); e != nil && (at == name || e.Kind != safepath.Directory || e.fresh || e.Unsure || e.Open) {
			list = append(list, e.author)
		}
	}
	p, err := o.find(name, true)
	if err != nil {
		return list
	}
	list = append(list, p.doubts...)
	if p.entry != nil {
		list = append(list, p.entry.author)
	}
	var below func(dir string)
	below = func(dir string) {
		for _, n := range o.namesBelow(dir) {
			child := path.Join(dir, n)
			if e := o.at(child); e != nil {
				list = append(list, e.author)
			}
			below(child)
		}
	}
	below(p.path)
	if len(o.excluded) > 0 && p.missingAt != "" {
		below(p.missingAt) // the authors who make the missing directories
	}
	return list
}

// test answers a call of test(1) with one question about a file. For any other call it is not ok.
func test(o *View, c command.Cmd) (yes, ok bool) {
	words := c.Argv[1:]
	switch path.Base(c.Argv[0]) {
	case "test":
	case "[":
		if len(words) == 0 || words[len(words)-1] != "]" {
			return false, false
		}
		words = words[:len(words)-1]
	default:
		return false, false
	}
	not := len(words) == 3 && words[0] == "!"
	if not {
		words = words[1:]
	}
	if len(words) != 2 {
		return false, false
	}
	name, inside := ofMachine(o.base.Root(), commandPath(o, c, words[1]))
	if !inside || words[1] == "" {
		return false, false
	}
	if p, err := o.find(name, words[0] != "-L" && words[0] != "-h"); err == nil && p.absolute && o.base.Root() != rootOf(o, c) {
		return false, false // such a link leads elsewhere for the command
	}
	yes, ok = answerTest(o, words[0], name)
	return yes != not, ok
}

// answerTest answers one question of test(1).
func answerTest(o *View, operator, name string) (yes, ok bool) {
	if operator == "-e" {
		yes, err := o.Exists(name)
		return yes, err == nil
	}
	isLink := operator == "-L" || operator == "-h"
	p, err := o.look(name, !isLink, false)
	switch {
	case err != nil:
		return false, false
	case isLink:
		return p.info.Kind == safepath.Symlink, true
	case operator == "-f":
		return p.info.Kind == safepath.Regular, true
	case operator == "-d":
		return p.info.Kind == safepath.Directory, true
	case operator == "-s" && (p.entry.asIs() || p.entry.Content != nil):
		return p.info.Kind == safepath.Directory || p.info.Size > 0, true
	}
	return false, false
}
