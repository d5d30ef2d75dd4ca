//go:build linux

package main

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"

	"github.com/luaccm/ccm/test/bench/measure"
)

// A bench is one session of measuring.
type bench struct {
	options
	installed   []peer
	places      map[bool]string     // the directory in memory, and (true) that on a disk
	user, group string              // owner and group of the files
	moved       int                 // number of directories that were moved away
	commands    map[string]*command // of the group that is measured
	lines       []line
	pairs       []*command // commands of ccm with runs of the other binary (-before)
}

// A command is one column of a load.
type command struct {
	name    string // load@column
	argv    []string
	items   float64                 // of the load
	inputs  float64                 // bytes of the site and of the lists for floor
	prepare func() error            // brings the machine to where the work begins; not timed
	check   func(said string) error // returns an error unless the work was done
	peer    bool                    // it may fail
	slow    bool                    // one run is measured, the first
	runs    []measure.Usage
	err     error    // of a peer: why there are no runs
	before  *command // the same command of the other binary of ccm (-before)
}

// Times in seconds.
const (
	limit     = 120 // after which a command is killed
	peerLimit = 20  // the same for peers, whose work may grow with the square of its size
	slowPeer  = 2   // from which on a peer is measured once only
)

// newBench makes the directories for the work, and copies the programs to one of them.
func newBench(o options) (b *bench, err error) {
	b = &bench{options: o, places: make(map[bool]string)}
	for disk, parent := range map[bool]string{false: o.dir, true: o.disk} {
		err = errors.Join(err, os.MkdirAll(parent, 0o700))
		dir, failed := os.MkdirTemp(parent, "ccm-bench-")
		err = errors.Join(err, failed, os.Chmod(dir, 0o755))
		b.places[disk] = dir
	}
	do := func(text string) (said string) {
		if err == nil {
			said, err = shell(text)
		}
		return said
	}
	b.user, b.group = do("id -un"), do("id -gn")
	if o.ccm == "" {
		o.ccm = "bin/ccm"
		do("make -s build")
	}
	// Copies, as installing makes them: the pages of a file that the linker has written are many small
	// ones until it is read from disk again, which costs each start of a large binary a millisecond or two.
	install := func(path, name string) { do("cp -L " + path + " " + b.binary(name)) }
	do("go build -trimpath -ldflags '-s -w' -o " + b.binary("built") + " ./test/bench/floor")
	install(b.binary("built"), "floor")
	install(o.ccm, "ccm")
	if o.before != "" {
		install(o.before, "ccm-before")
	}
	for _, p := range peers {
		if path, absent := exec.LookPath(p.binary); o.peers && absent == nil {
			b.installed = append(b.installed, p)
			install(path, p.binary)
		}
	}
	return b, err
}

// binary returns the path of a copied program, on the disk.
func (b *bench) binary(name string) string { return filepath.Join(b.places[true], name) }

// shell runs a command and returns its standard output.
func shell(text string) (string, error) {
	out, err := exec.Command("sh", "-c", text).Output()
	if exit, ok := errors.AsType[*exec.ExitError](err); ok {
		err = fmt.Errorf("%s: %w\n%s", text, err, exit.Stderr)
	}
	return strings.TrimSpace(string(out)), err
}

// measure measures a group. If that fails, the table has the reason.
func (b *bench) measure(g group) error {
	b.commands = make(map[string]*command)
	var order []*command
	var err error
	for _, l := range g.loads {
		if err == nil {
			var list []*command
			list, err = b.load(l)
			order = append(order, list...)
		}
	}
	if err == nil {
		runtime.GC() // now, and not while something is measured
		err = b.run(order)
	}
	for _, r := range g.rows {
		if err != nil {
			b.commands = nil
			r.note, _, _ = strings.Cut(err.Error(), "\n")
		}
		b.lines = append(b.lines, b.line(r))
	}
	for _, c := range order {
		if c.before != nil && err == nil {
			b.pairs = append(b.pairs, c)
		}
	}
	if errors.Is(err, errFewer) {
		err = nil
	}
	_, failed := shell("rm -rf " + b.places[false] + "/load-* " + b.places[true] + "/load-*")
	return errors.Join(err, failed)
}

// load makes the site of a load and what it needs, and returns its commands.
func (b *bench) load(l load) (all []*command, err error) {
	base := filepath.Join(b.places[l.disk], "load-"+l.name)
	if err := os.Mkdir(base, 0o755); err != nil {
		return nil, err
	}
	items, err := l.items(base, max(1, l.n/b.shrink))
	if err != nil {
		return nil, err
	}
	s, n, differ := site{l.typ, items, b.user, b.group, base}, len(items), 0
	if l.oneIn > 0 {
		differ = (n + l.oneIn - 1) / l.oneIn
	}
	if l.oneIn != 1 {
		err = fill(items, 1, "")
	}
	words := map[string]string{"WORKERS": fmt.Sprint(min(max(2, runtime.GOMAXPROCS(0)), 8))} // as many as ccm looks with
	write := func(word, suffix, text string) {
		words[word] = base + "." + suffix
		err = errors.Join(err, os.WriteFile(words[word], []byte(text), 0o644))
	}
	var list, data strings.Builder
	for _, x := range items {
		words["SOURCE"], words["TARGET"] = x.Own["source"], x.Name
		fmt.Fprintln(&list, cmp.Or(x.Own["creates"], x.Name))
		data.WriteString(x.Own["content"])
	}
	write("LIST", "list", list.String())
	write("DATA", "data", data.String())

	add := func(column, program, text, want string) *command {
		state := base + ".state-" + column
		words["STATE"] = state
		words["STATE.html"] = state + ".html"
		c := &command{name: l.name + "@" + column, argv: b.words(program, text, words), items: float64(n)}
		for arg := range strings.FieldsSeq(text) {
			if fi, err := os.Stat(words[arg]); err == nil && slices.Contains([]string{"SITE", "LIST", "DATA"}, arg) {
				c.inputs += float64(fi.Size())
			}
		}
		first := b.words(program, l.first, words)
		c.prepare = func() (err error) {
			switch {
			case l.oneIn == 1 && contents(items):
				err = b.fresh(base, state)
			case l.oneIn > 1:
				err = fill(items, l.oneIn, "drifted")
			}
			if l.first != "" && err == nil {
				_, err = shell(strings.Join(first, " "))
			}
			return err
		}
		c.check = func(said string) error {
			if !strings.Contains("\n"+said+"\n", "\n"+want) {
				return fmt.Errorf("expected %q in the output", want)
			}
			if l.oneIn > 0 && !l.undone {
				return checkFiles(items, l.oneIn == 1)
			}
			if l.undone && checkFiles(items[:1], false) == nil {
				return errors.New("it did not undo the run")
			}
			return nil
		}
		b.commands[c.name] = c
		all = append(all, c)
		return c
	}
	for _, column := range slices.Sorted(maps.Keys(l.floor)) {
		add(column, "floor", l.floor[column], fmt.Sprintln(differ))
	}
	want := strings.NewReplacer("N ", fmt.Sprint(n, " "), "M ", fmt.Sprint(differ, " "), "S ", fmt.Sprint(n-differ, " ")).Replace(cmp.Or(l.says, "Nothing to do: N resource"))
	for language := range strings.FieldsSeq(cmp.Or(l.languages, "lua yaml")) {
		form := language
		if l.loop && language == "lua" {
			form = "loop"
		}
		write("SITE", language, s.text(form))
		var before *command
		if b.before != "" {
			before = add(language+"-before", "ccm-before", cmp.Or(l.ccm, runSite), want)
		}
		add(language, "ccm", cmp.Or(l.ccm, runSite), want).before = before
	}
	for _, p := range b.installed {
		if l.peers != "" {
			write("SITE", p.binary+"."+p.suffix, s.text(p.Name))
			add(p.binary, p.binary, strings.ReplaceAll(l.peers, "SITE", p.words), "").peer = true
		}
	}
	return all, err
}

// words returns the words of a program, with files and directories for the words in capitals.
func (b *bench) words(program, text string, words map[string]string) []string {
	list := []string{b.binary(program)}
	for arg := range strings.FieldsSeq(text) {
		list = append(list, cmp.Or(words[arg], arg))
	}
	return list
}

// fresh makes empty directories, and has all files written to disk, so that the writes of one command
// do not slow the next one down. Old directories are moved away, not deleted: ext4 without a journal
// steps over recently deleted inodes one by one, which would slow the creation of files.
func (b *bench) fresh(dirs ...string) (err error) {
	b.moved++
	for _, dir := range dirs {
		if _, absent := os.Stat(dir); absent == nil {
			err = errors.Join(err, os.Rename(dir, fmt.Sprint(dir, "-old-", b.moved)))
		}
		err = errors.Join(err, os.Mkdir(dir, 0o755))
	}
	_, failed := shell("sync -f " + dirs[0])
	return errors.Join(err, failed)
}

// run runs all commands in turn: a first time to check them and to fill caches, which is not
// measured, and then once in each round. Of a slow peer the first run is measured, and is the only one.
func (b *bench) run(commands []*command) error {
	for k := -1; k < b.rounds; k++ {
		for _, c := range commands {
			if c.err != nil || c.slow {
				continue
			}
			o, err := b.once(c)
			if err != nil && !c.peer {
				return err
			}
			c.err, c.slow = err, c.peer && o.Wall > slowPeer*1e9
			if err == nil && (k >= 0 || c.slow) {
				c.runs = append(c.runs, o)
			}
		}
	}
	return nil
}

// once runs a command once and checks what it did.
func (b *bench) once(c *command) (u measure.Usage, err error) {
	seconds := limit
	if c.peer {
		seconds = peerLimit
	}
	err = c.prepare()
	if err == nil {
		// Floor starts the command, because the kernel reports at least the memory of the parent for a
		// child, and this process is large.
		once := exec.Command(b.binary("floor"), append([]string{"once", fmt.Sprint(seconds)}, c.argv...)...)
		once.Dir, once.Stderr = b.places[true], os.Stderr
		once.Env = append(os.Environ(), "LC_ALL=C.UTF-8", "NO_COLOR=1", "ANSIBLE_LOCALHOST_WARNING=False", "ANSIBLE_RETRY_FILES_ENABLED=False")
		var text []byte
		if text, err = once.Output(); err == nil {
			err = json.Unmarshal(text, &u)
		}
	}
	if err == nil {
		switch {
		case u.Late:
			err = fmt.Errorf("over %d s", seconds)
		case u.Status != 0:
			err = fmt.Errorf("exit status %d", u.Status)
		default:
			err = c.check(u.Output)
		}
	}
	if err != nil {
		err = fmt.Errorf("%s: %w: %s", c.name, err, u.Output[max(0, len(u.Output)-400):])
	}
	return u, err
}
