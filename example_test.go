package ccm_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/luaccm/ccm"
)

// machine returns options for a directory that stands for a machine, and a function that removes it.
func machine() (o ccm.Options, remove func()) {
	dir, err := os.MkdirTemp("", "ccm")
	if err != nil {
		panic(err)
	}
	root := filepath.Join(dir, "root")
	if err := os.Mkdir(root, 0o700); err != nil {
		panic(err)
	}
	return ccm.Options{Root: root, StateDir: filepath.Join(dir, "state")}, func() { _ = os.RemoveAll(dir) }
}

// load is ccm.LoadText for the texts of these examples, which have no mistakes. All files have the owner of this process.
func load(ctx context.Context, text string, o ccm.Options) *ccm.Site {
	const defaults = `file.defaults { owner = facts.user.name, group = facts.user.group, mode = "0644" } `
	site, err := ccm.LoadText(ctx, "site.lua", defaults+text, o)
	if err != nil {
		panic(err)
	}
	return site
}

func ExampleLoad() {
	ctx := context.Background()
	o, remove := machine()
	defer remove()
	file := filepath.Join(filepath.Dir(o.Root), "site.lua")
	_ = os.WriteFile(file, []byte(`
file { "/motd", content = "hello " .. arg[1], owner = facts.user.name, group = facts.user.group, mode = "0644" }
`), 0o600)

	o.Args = []string{"world"}
	site, err := ccm.Load(ctx, file, o)
	if err != nil {
		fmt.Println(err)
		return
	}
	defer site.Close()
	for event, err := range site.Run(ctx) {
		fmt.Println(event, err)
	}
	text, _ := os.ReadFile(filepath.Join(o.Root, "motd"))
	fmt.Println(string(text))
	// Output:
	// changed file#/motd: Created the file <nil>
	// hello world
}

func ExampleLoadText() {
	ctx := context.Background()
	o, remove := machine()
	defer remove()
	site, err := ccm.LoadText(ctx, "site.yaml", `
ccm:
  resources:
    - link:
        - /current: { target: releases/7 }
`, o)
	if err != nil {
		fmt.Println(err)
		return
	}
	defer site.Close()
	for event, err := range site.Plan(ctx) {
		fmt.Println(event, err)
	}
	// Output: pending link#/current: Would have created the link <nil>
}

func ExampleEnsure() {
	ctx := context.Background()
	o, remove := machine()
	defer remove()
	for range 2 {
		event, err := ccm.Ensure(ctx, "link", "/current", map[string]any{"target": "releases/7"}, o)
		fmt.Println(event, err)
	}
	// Output:
	// changed link#/current: Created the link <nil>
	// stable link#/current <nil>
}

func ExampleFacts() {
	o, remove := machine()
	defer remove()
	o.Facts = map[string]any{"role": "web"}
	facts, err := ccm.Facts(context.Background(), o)
	fmt.Println(facts["role"], err)
	// Output: web <nil>
}

func ExampleSite() {
	ctx := context.Background()
	o, remove := machine()
	defer remove()
	site := load(ctx, `file { "/etc", ensure = "directory", mode = "0755" }  file { "/etc/motd", content = "hello" }`, o)
	defer site.Close()
	for event, err := range site.Plan(ctx) {
		fmt.Println(event, err)
	}
	for event, err := range site.Run(ctx) {
		fmt.Println(event, err)
	}
	// Output:
	// pending file#/etc: Would have created directory <nil>
	// pending file#/etc/motd: Would have created the file <nil>
	// changed file#/etc: Created directory <nil>
	// changed file#/etc/motd: Created the file <nil>
}

// Leaving the loop ends the run.
func ExampleSite_Run() {
	ctx := context.Background()
	o, remove := machine()
	defer remove()
	site := load(ctx, `local link = require "std.link"  link { "/a", target = "x" }  link { "/b", target = "x" }`, o)
	defer site.Close()
	for event := range site.Run(ctx) {
		fmt.Println(event)
		break
	}
	_, err := os.Lstat(filepath.Join(o.Root, "b"))
	fmt.Println(errors.Is(err, fs.ErrNotExist))
	// Output:
	// changed link#/a: Created the link
	// true
}

func ExampleSite_Plan() {
	ctx := context.Background()
	o, remove := machine()
	defer remove()
	site := load(ctx, `file { "/motd", content = "hello" }`, o)
	defer site.Close()
	todo := 0
	for event, err := range site.Plan(ctx) {
		if err != nil {
			fmt.Println(err)
			return
		}
		if event.Outcome == ccm.Pending {
			todo++
		}
	}
	fmt.Println(todo)
	// Output: 1
}

func ExampleResource() {
	ctx := context.Background()
	o, remove := machine()
	defer remove()
	site := load(ctx, "\n"+`file { "/motd", content = "hello" }`, o)
	defer site.Close()
	for _, r := range site.Resources() {
		fmt.Println(r, r.Type, r.Name, r.File, r.Line)
	}
	// Output: file#/motd file /motd site.lua 2
}

func ExampleEvent() {
	ctx := context.Background()
	o, remove := machine()
	defer remove()
	site := load(ctx, `file { "/motd", content = "hello", mode = "0600" }`, o)
	defer site.Close()
	for event := range site.Run(ctx) {
		fmt.Println(event.Type, event.Name, event.Outcome, event.Provider)
		fmt.Println(event.Message)
	}
	// Output:
	// file /motd changed posix
	// Created the file
}

func ExampleChange() {
	ctx := context.Background()
	o, remove := machine()
	defer remove()
	_ = os.WriteFile(filepath.Join(o.Root, "motd"), nil, 0o600)
	site := load(ctx, `file { "/motd", content = "", mode = "0644" }`, o)
	defer site.Close()
	for event := range site.Plan(ctx) {
		for _, c := range event.Changes {
			fmt.Println(c.Property, c.Have, c.Want)
		}
	}
	// Output: mode 0600 0644
}

func ExampleOutcome() {
	ctx := context.Background()
	o, remove := machine()
	defer remove()
	counts := make(map[ccm.Outcome]int)
	site := load(ctx, `for i = 1, 3 do file { "/" .. i, content = "" } end`, o)
	defer site.Close()
	for event := range site.Run(ctx) {
		counts[event.Outcome]++
	}
	fmt.Println(counts)
	// Output: map[changed:3]
}

func ExampleStable() {
	ctx := context.Background()
	o, remove := machine()
	defer remove()
	event, err := ccm.Ensure(ctx, "file", "/motd", map[string]any{"ensure": "absent"}, o)
	fmt.Println(event.Outcome == ccm.Stable, err)
	// Output: true <nil>
}

func ExampleChanged() {
	ctx := context.Background()
	o, remove := machine()
	defer remove()
	event, err := ccm.Ensure(ctx, "link", "/current", map[string]any{"target": "releases/7"}, o)
	fmt.Println(event.Outcome == ccm.Changed, err)
	// Output: true <nil>
}

func ExamplePending() {
	ctx := context.Background()
	o, remove := machine()
	defer remove()
	o.Noop = true
	event, err := ccm.Ensure(ctx, "link", "/current", map[string]any{"target": "releases/7"}, o)
	fmt.Println(event.Outcome == ccm.Pending, err)
	// Output: true <nil>
}

// The exit status of the command decides whether it counts as a change.
func ExampleUnknown() {
	ctx := context.Background()
	o, remove := machine()
	defer remove()
	o.Root, o.Noop = "", true // the machine that has the command
	event, err := ccm.Ensure(ctx, "exec", "true", map[string]any{"unchanged_returns": []int{3}}, o)
	fmt.Println(event.Outcome == ccm.Unknown, err)
	// Output: true <nil>
}

func ExampleSkipped() {
	ctx := context.Background()
	o, remove := machine()
	defer remove()
	site := load(ctx, `
file { "/no/such/directory", content = "" }
file { "/motd", content = "", require = "file#/no/such/directory" }`, o)
	defer site.Close()
	for event := range site.Run(ctx) {
		if event.Outcome == ccm.Skipped {
			fmt.Println(event.Resource, event.Reason)
		}
	}
	// Output: file#/motd file#/no/such/directory failed
}

func ExampleFailed() {
	ctx := context.Background()
	o, remove := machine()
	defer remove()
	site := load(ctx, `file { "/no/such/directory", content = "" }`, o)
	defer site.Close()
	for event := range site.Run(ctx) {
		if event.Outcome == ccm.Failed {
			fmt.Println(event.Resource, event.Err != nil)
		}
	}
	// Output: file#/no/such/directory true
}

func ExampleErrFailed() {
	ctx := context.Background()
	o, remove := machine()
	defer remove()
	_, err := ccm.Ensure(ctx, "link", "/no/such/link", map[string]any{"target": "x"}, o)
	fmt.Println(errors.Is(err, ccm.ErrFailed))
	// Output: true
}

func ExampleMistake() {
	ctx := context.Background()
	o, remove := machine()
	defer remove()
	_, err := ccm.LoadText(ctx, "site.lua", `file { "/motd", mdoe = "0644" }`, o)
	if m, ok := errors.AsType[*ccm.Mistake](err); ok {
		fmt.Printf("%s, line %d, column %d\n", m.File, m.Line, m.Column)
		fmt.Println(m.Message, "-", m.Hint)
	}
	// Output:
	// site.lua, line 1, column 17
	// unknown property "mdoe" - did you mean "mode"?
}

func ExampleMistakes() {
	ctx := context.Background()
	o, remove := machine()
	defer remove()
	_, err := ccm.LoadText(ctx, "site.lua", `
file { "/a", mdoe = "0644" }
file { "/b", owner = 7.5 }`, o)
	for _, m := range ccm.Mistakes(err) {
		fmt.Println(m)
	}
	// Output:
	// site.lua:2:14: file#/a: unknown property "mdoe" (did you mean "mode"?)
	// site.lua:3:22: file#/b: owner: expected a string, got the number 7.5 (quote it: "7.5")
}

func ExampleOptions() {
	ctx := context.Background()
	o, remove := machine()
	defer remove()
	var printed bytes.Buffer
	o.Facts = map[string]any{"role": "web"}
	o.Data = map[string]any{"port": 8080}
	o.Output = &printed
	o.Warn = func(m *ccm.Mistake) { fmt.Println("warning:", m) }
	site := load(ctx, `print(facts.role, data.port)`, o)
	defer site.Close()
	fmt.Print(printed.String())
	// Output: web	8080
}

// A Note is a file below /notes.
type Note struct {
	Name   string  `ccm:"name,name"`
	Ensure string  `ccm:"ensure,default=present"`
	Text   *string `ccm:"text"`
}

type notes struct{}

func (notes) Status(_ context.Context, v *ccm.View, want Note) (Note, error) {
	text, err := v.ReadFile("/notes/" + want.Name)
	if errors.Is(err, fs.ErrNotExist) {
		return Note{}, nil
	}
	s := string(text)
	return Note{Ensure: "present", Text: &s}, err
}

func (notes) Apply(_ context.Context, m *ccm.Machine, want Note, _ []ccm.Change) error {
	if want.Ensure == "absent" {
		return m.Remove("/notes/" + want.Name)
	}
	if err := m.MakeDirectory("/notes"); err != nil {
		return err
	}
	return m.WriteFile("/notes/"+want.Name, []byte(*want.Text), 0o600)
}

func ExampleNewType() {
	// type Note struct {
	//	Name   string  `ccm:"name,name"`
	//	Ensure string  `ccm:"ensure,default=present"`
	//	Text   *string `ccm:"text"`
	// }
	//
	// notes is a ccm.Provider[Note].
	ctx := context.Background()
	o, remove := machine()
	defer remove()
	o.Types = []ccm.Type{ccm.NewType("note", notes{})}
	site := load(ctx, `note { "today", text = "hello" }`, o)
	defer site.Close()
	for event, err := range site.Run(ctx) {
		fmt.Println(event, err)
	}
	text, _ := os.ReadFile(filepath.Join(o.Root, "notes/today"))
	fmt.Println(string(text))
	// Output:
	// changed note#today: Created the note <nil>
	// hello
}

func ExampleType() {
	ctx := context.Background()
	o, remove := machine()
	defer remove()
	o.Types = []ccm.Type{ccm.NewType("note", notes{})}
	for _, text := range []string{"hello", "hello", "goodbye"} {
		event, err := ccm.Ensure(ctx, "note", "today", map[string]any{"text": text}, o)
		fmt.Println(event, err)
	}
	// Output:
	// changed note#today: Created the note <nil>
	// stable note#today <nil>
	// changed note#today: Updated the note <nil>
}

func ExampleProvider() {
	// func (notes) Status(_ context.Context, v *ccm.View, want Note) (Note, error) {
	//	text, err := v.ReadFile("/notes/" + want.Name)
	//	if errors.Is(err, fs.ErrNotExist) {
	//		return Note{}, nil
	//	}
	//	s := string(text)
	//	return Note{Ensure: "present", Text: &s}, err
	// }
	//
	// func (notes) Apply(_ context.Context, m *ccm.Machine, want Note, _ []ccm.Change) error {
	//	if want.Ensure == "absent" {
	//		return m.Remove("/notes/" + want.Name)
	//	}
	//	if err := m.MakeDirectory("/notes"); err != nil {
	//		return err
	//	}
	//	return m.WriteFile("/notes/"+want.Name, []byte(*want.Text), 0o600)
	// }
	ctx := context.Background()
	o, remove := machine()
	defer remove()
	var p ccm.Provider[Note] = notes{}
	o.Types = []ccm.Type{ccm.NewType("note", p)}
	site := load(ctx, `note { "today", text = "hello" }  note { "yesterday", ensure = "absent" }`, o)
	defer site.Close()
	for event, err := range site.Plan(ctx) {
		fmt.Println(event, err)
	}
	// Output:
	// pending note#today: Would have created the note <nil>
	// stable note#yesterday <nil>
}

// A Line is in the file /lines.
type Line struct {
	Text string `ccm:"text,name"`
	In   bool   `ccm:"in"`
}

type lines struct{}

func (lines) Status(_ context.Context, v *ccm.View, want Line) (Line, error) {
	text, err := v.ReadFile("/lines")
	if errors.Is(err, fs.ErrNotExist) {
		err = nil
	}
	return Line{In: strings.Contains(string(text), want.Text+"\n")}, err
}

func (lines) Apply(_ context.Context, m *ccm.Machine, want Line, _ []ccm.Change) error {
	text, err := m.ReadFile("/lines") // a Machine is a View
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	return m.WriteFile("/lines", append(text, want.Text+"\n"...), 0o644)
}

func (lines) Files(Line) []string { return []string{"/lines"} }

func ExampleView() {
	// func (lines) Status(_ context.Context, v *ccm.View, want Line) (Line, error) {
	//	text, err := v.ReadFile("/lines")
	//	if errors.Is(err, fs.ErrNotExist) {
	//		err = nil
	//	}
	//	return Line{In: strings.Contains(string(text), want.Text+"\n")}, err
	// }
	ctx := context.Background()
	o, remove := machine()
	defer remove()
	_ = os.WriteFile(filepath.Join(o.Root, "lines"), []byte("a\n"), 0o600)
	o.Types = []ccm.Type{ccm.NewType("some_line", lines{})}
	o.Noop = true
	for _, text := range []string{"a", "b"} {
		event, err := ccm.Ensure(ctx, "some_line", text, map[string]any{"in": true}, o)
		fmt.Println(event.Outcome, event.Changes, err)
	}
	// Output:
	// stable [] <nil>
	// pending [{in false true}] <nil>
}

func ExampleMachine() {
	// func (lines) Apply(_ context.Context, m *ccm.Machine, want Line, _ []ccm.Change) error {
	//	text, err := m.ReadFile("/lines") // a Machine is a View
	//	if err != nil && !errors.Is(err, fs.ErrNotExist) {
	//		return err
	//	}
	//	return m.WriteFile("/lines", append(text, want.Text+"\n"...), 0o644)
	// }
	ctx := context.Background()
	o, remove := machine()
	defer remove()
	o.Types = []ccm.Type{ccm.NewType("some_line", lines{})}
	site := load(ctx, `some_line { "a", "b", ["in"] = true }`, o)
	defer site.Close()
	for event, err := range site.Run(ctx) {
		fmt.Println(event, err)
	}
	text, _ := os.ReadFile(filepath.Join(o.Root, "lines"))
	fmt.Printf("%q\n", text)
	// Output:
	// changed some_line#a: Updated the some line <nil>
	// changed some_line#b: Updated the some line <nil>
	// "a\nb\n"
}
