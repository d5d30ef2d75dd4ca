package luaedit_test

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/luaccm/ccm/studio/luaedit"
)

type answer = func(*luaedit.Script) (*luaedit.Script, luaedit.Splice, error)

const small = `#!/usr/bin/env ccm
-- the site
local port = 80

-- the message
local motd = file { "/etc/motd", content = 'hi', owner = "root" } -- short
package { "vim", "zsh",
  ensure = "latest", -- always
}
package "git"
exec { "reload",
  -- what it does
  command = "echo " .. port,
  require = motd -- after it
}
file.defaults { mode = "0644" }
file "/etc/a" { owner = "x" }
file("/etc/b", { })
if port > 1 then
  file { "/etc/c", owner = "y" }
end
for i = 1, 2 do file { "/etc/" .. i } end
`

func parse(t *testing.T, text string) *luaedit.Script {
	t.Helper()
	s, err := luaedit.Parse("site.lua", text)
	require.NoError(t, err)
	return s
}

func TestParse(t *testing.T) {
	s := parse(t, small)
	var got []string
	for _, c := range s.Calls {
		text := c.Module + "|" + c.Func
		for _, n := range c.Names {
			text += fmt.Sprintf(" %s/%v", n.Value, n.Literal)
		}
		for _, f := range c.Fields {
			text += fmt.Sprintf(" %s=%v/%v", f.Name, f.Value, f.Literal)
		}
		got = append(got, fmt.Sprintf("%s %v %v", text, c.Block, c.Repeats))
	}
	require.Equal(t, []string{
		"|file /etc/motd/true content=hi/true owner=root/true false false",
		"|package vim/true zsh/true ensure=latest/true false false",
		"|package git/true false false",
		"|exec reload/true command=<nil>/false require=<nil>/false false false",
		"file|defaults mode=0644/true false false",
		"|file /etc/a/true owner=x/true false false",
		"|file /etc/b/true false false",
		"|file /etc/c/true owner=y/true true false",
		`|file "/etc/" .. i/false false true`,
	}, got)
	line, column := s.Place(s.Calls[0].Span.From)
	require.Equal(t, []int{6, 14}, []int{line, column})
	require.Equal(t, `file { "/etc/motd", content = 'hi', owner = "root" }`, small[s.Calls[0].Span.From:s.Calls[0].Span.To])
	require.Equal(t, `file("/etc/b", { })`, small[s.Calls[6].Span.From:s.Calls[6].Span.To])
}

func TestEdits(t *testing.T) {
	set := func(n int, name string, v any) answer {
		return func(s *luaedit.Script) (*luaedit.Script, luaedit.Splice, error) { return s.Set(n, name, v) }
	}
	unset := func(n int, name string) answer {
		return func(s *luaedit.Script) (*luaedit.Script, luaedit.Splice, error) { return s.Unset(n, name) }
	}
	for _, c := range []struct {
		do       answer
		old, new string
	}{
		{set(0, "content", "ho"), "'hi'", "'ho'"},
		{set(0, "content", "it's"), "'hi'", `"it's"`},
		{set(0, "content", "a\nb ]] c\n"), "'hi'", "[=[\na\nb ]] c\n]=]"},
		{set(0, "owner", luaedit.Expr(`"r" .. port`)), `"root"`, `"r" .. port`},
		{set(0, "mode", "0600"), `"root" }`, `"root", mode = "0600" }`},
		{set(1, "tags", []any{"a", int64(1), true}), "always\n", "always\n  tags = { \"a\", 1, true },\n"},
		{set(3, "environment", map[string]any{"A": "1", "b c": 2.5}), "= motd -- after it\n", "= motd, -- after it\n  environment = { A = \"1\", [\"b c\"] = 2.5 }\n"},
		{set(2, "ensure", "absent"), `package "git"`, `package { "git", ensure = "absent" }`},
		{set(5, "mode", "0600"), `{ owner = "x" }`, `{ owner = "x", mode = "0600" }`},
		{set(6, "mode", "0600"), `{ }`, `{ mode = "0600" }`},
		{set(7, "owner", "z"), `"y"`, `"z"`},
		{unset(0, "owner"), `, owner = "root" }`, ` }`},
		{unset(0, "content"), `content = 'hi', `, ``},
		{unset(1, "ensure"), "  ensure = \"latest\", -- always\n", ""},
		{unset(3, "command"), "  command = \"echo \" .. port,\n", ""},
		{func(s *luaedit.Script) (*luaedit.Script, luaedit.Splice, error) { return s.SetName(2, 0, "hg") }, `"git"`, `"hg"`},
		{func(s *luaedit.Script) (*luaedit.Script, luaedit.Splice, error) { return s.SetName(5, 0, "/z") }, `"/etc/a"`, `"/z"`},
		{func(s *luaedit.Script) (*luaedit.Script, luaedit.Splice, error) { return s.CutName(1, 0) }, `"vim", "zsh"`, `"zsh"`},
		{func(s *luaedit.Script) (*luaedit.Script, luaedit.Splice, error) { return s.Remove(1) }, "package { \"vim\", \"zsh\",\n  ensure = \"latest\", -- always\n}\n", ""},
		{func(s *luaedit.Script) (*luaedit.Script, luaedit.Splice, error) {
			return s.Insert(2, "-- new\nexec \"ls\"")
		}, "package \"git\"", "-- new\nexec \"ls\"\npackage \"git\""},
		{func(s *luaedit.Script) (*luaedit.Script, luaedit.Splice, error) { return s.Insert(0, "exec \"ls\"") }, "-- the message", "exec \"ls\"\n-- the message"},
		{func(s *luaedit.Script) (*luaedit.Script, luaedit.Splice, error) { return s.Insert(9, "exec \"ls\"") }, " .. i } end\n", " .. i } end\nexec \"ls\"\n"},
		{func(s *luaedit.Script) (*luaedit.Script, luaedit.Splice, error) { return s.Move(2, 1) },
			"package { \"vim\", \"zsh\",\n  ensure = \"latest\", -- always\n}\npackage \"git\"\n", "package \"git\"\npackage { \"vim\", \"zsh\",\n  ensure = \"latest\", -- always\n}\n"},
		{func(s *luaedit.Script) (*luaedit.Script, luaedit.Splice, error) { return s.Move(0, 3) },
			small[strings.Index(small, "-- the message"):strings.Index(small, "exec {")],
			small[strings.Index(small, "package {"):strings.Index(small, "exec {")] + small[strings.Index(small, "-- the message"):strings.Index(small, "package {")]},
	} {
		for _, crlf := range []bool{false, true} {
			text, want := small, strings.Replace(small, c.old, c.new, 1)
			require.NotEqual(t, text, want, c.old)
			if crlf {
				text, want = strings.ReplaceAll(text, "\n", "\r\n"), strings.ReplaceAll(want, "\n", "\r\n")
			}
			out, s, err := c.do(parse(t, text))
			require.NoError(t, err, c.new)
			require.Equal(t, want, out.Text)
			require.Equal(t, out.Text, text[:s.From]+s.Text+text[s.To:])
		}
	}
}

func TestRefusals(t *testing.T) {
	s := parse(t, small)
	for what, do := range map[string]answer{
		"the handle is used later":    func(s *luaedit.Script) (*luaedit.Script, luaedit.Splice, error) { return s.Remove(0) },
		"the handle would come after": func(s *luaedit.Script) (*luaedit.Script, luaedit.Splice, error) { return s.Move(0, 4) },
		"its handle would come after": func(s *luaedit.Script) (*luaedit.Script, luaedit.Splice, error) { return s.Move(3, 0) },
		"the defaults hold no more":   func(s *luaedit.Script) (*luaedit.Script, luaedit.Splice, error) { return s.Move(5, 3) },
		"in a condition":              func(s *luaedit.Script) (*luaedit.Script, luaedit.Splice, error) { return s.Remove(7) },
		"an expression that ends the table": func(s *luaedit.Script) (*luaedit.Script, luaedit.Splice, error) {
			return s.Set(0, "owner", luaedit.Expr(`1 } exec { "rm"`))
		},
		"an expression with more fields": func(s *luaedit.Script) (*luaedit.Script, luaedit.Splice, error) {
			return s.Set(0, "owner", luaedit.Expr(`1, mode = 2`))
		},
		"an expression with a comment": func(s *luaedit.Script) (*luaedit.Script, luaedit.Splice, error) {
			return s.Set(0, "owner", luaedit.Expr(`1 --`))
		},
		"no name would be left": func(s *luaedit.Script) (*luaedit.Script, luaedit.Splice, error) { return s.CutName(2, 0) },
	} {
		_, _, err := do(s)
		require.ErrorIs(t, err, luaedit.ErrShape, what)
	}
	_, _, err := s.Unset(0, "nothing")
	require.ErrorIs(t, err, luaedit.ErrPath)
	_, err = luaedit.Parse("x.lua", "file {")
	require.ErrorContains(t, err, "x.lua:1:7")
}

// corpus returns the short scripts of the repository, or all if CCM_LUA_ALL is set.
func corpus(t *testing.T) map[string]string {
	most := 1_500
	if os.Getenv("CCM_LUA_ALL") != "" {
		most = 1 << 20
	}
	texts := map[string]string{"small": small, "small, CRLF": strings.ReplaceAll(small, "\n", "\r\n"), "small, BOM": "\ufeff" + strings.SplitN(small, "\n", 2)[1]}
	for _, dir := range []string{"testdata", "../../examples", "../../stdlib", "../../luaapi/testdata", "../../cmd/ccm/testdata", "../../test"} {
		require.NoError(t, filepath.WalkDir(dir, func(name string, d fs.DirEntry, err error) error {
			if err == nil && filepath.Ext(name) == ".lua" {
				content, err := os.ReadFile(name)
				if err == nil && (len(content) < most || dir == "testdata") {
					texts[name] = string(content)
				}
			}
			return nil //nolint:nilerr // a missing directory has no scripts
		}))
	}
	return texts
}

// TestEveryCall edits every field and every call of all scripts in the corpus. Few edits may be refused, and comments
// must stay; the package itself verifies each result.
func TestEveryCall(t *testing.T) {
	type tally struct{ tried, refused int }
	counts := make(map[string]*tally)
	files, calls := 0, 0
	for name, text := range corpus(t) {
		s, err := luaedit.Parse(name, text)
		if err != nil {
			continue
		}
		files++
		try := func(op string, gone, come string, do func() (*luaedit.Script, luaedit.Splice, error)) {
			c := counts[op]
			if c == nil {
				c = &tally{}
				counts[op] = c
			}
			c.tried++
			out, sp, err := do()
			if errors.Is(err, luaedit.ErrShape) {
				c.refused++
				if os.Getenv("CCM_LUA_REFUSED") != "" {
					t.Logf("refused %s in %s", op, name)
				}
				return
			}
			require.NoError(t, err, "%s in %s", op, name)
			require.Equal(t, out.Text, text[:sp.From]+sp.Text+text[sp.To:])
			require.Equal(t, strings.Count(text, "--")-strings.Count(gone, "--")+strings.Count(come, "--"), strings.Count(out.Text, "--"),
				"%s in %s: a comment is lost\n%s", op, name, out.Text)
		}
		for n, c := range s.Calls {
			calls++
			for _, f := range c.Fields {
				if f.Name == "" {
					continue
				}
				old := text[f.Span.From:f.Span.To]
				for op, v := range map[string]any{"set string": "it's \"x\" \\ ]] \t é", "set list": []any{"a", 1, true}, "set lines": "one\n ]] two\n\nthree\n", "set expression": luaedit.Expr("facts.os.family .. \"x\"")} {
					try(op, old, "", func() (*luaedit.Script, luaedit.Splice, error) { return s.Set(n, f.Name, v) })
				}
			}
			if len(c.Fields) == 0 && (len(c.Names) != 1 || !c.Names[0].Literal) {
				continue // such as print(a, b)
			}
			add := "add"
			if len(c.Fields) == 0 { // file "/a", and print "a" as well
				add = "add the first"
			}
			try(add, "", "", func() (*luaedit.Script, luaedit.Splice, error) { return s.Set(n, "zz new", "v") })
			for i := range c.Names {
				old := text[c.Names[i].Span.From:c.Names[i].Span.To]
				try("rename", old, "", func() (*luaedit.Script, luaedit.Splice, error) { return s.SetName(n, i, "new") })
			}
			if source, err := s.Source(n); err == nil {
				try("insert", "", source, func() (*luaedit.Script, luaedit.Splice, error) { return s.Insert(n, source) })
				if !strings.Contains(source, "local") {
					try("move", "", "", func() (*luaedit.Script, luaedit.Splice, error) { return s.Move(n, 0) })
				}
			}
		}
	}
	t.Logf("%d scripts, %d calls", files, calls)
	require.Greater(t, calls, 150)
	for op, c := range counts {
		t.Logf("%-15s tried %5d  refused %4d (%.1f%%)", op, c.tried, c.refused, 100*float64(c.refused)/float64(c.tried))
		if !slices.Contains([]string{"move", "insert", "add the first"}, op) {
			require.LessOrEqual(t, float64(c.refused), 0.02*float64(c.tried), op)
		}
	}
}

// FuzzEdit: any script is edited or refused; after an edit the value is found.
func FuzzEdit(f *testing.F) {
	hard, err := os.ReadFile("testdata/hard.lua")
	require.NoError(f, err)
	f.Add(string(hard), 0, "content", "x")
	f.Add(small, 3, "command", "two\nlines\n")
	f.Add("f{f{}, [1]=f'x'}f{}{}", 1, "a", "]]")
	f.Fuzz(func(t *testing.T, text string, n int, field, value string) {
		s, err := luaedit.Parse("", text)
		if err != nil || len(text) > 1<<12 {
			return
		}
		if out, _, err := s.Set(n, field, value); err == nil {
			found := slices.ContainsFunc(out.Calls[n].Fields, func(f luaedit.Field) bool { return f.Name == field && f.Value == value })
			require.True(t, found, "%q in %q", field, out.Text)
		}
		for _, do := range []func() (*luaedit.Script, luaedit.Splice, error){
			func() (*luaedit.Script, luaedit.Splice, error) { return s.Set(n, field, luaedit.Expr(value)) },
			func() (*luaedit.Script, luaedit.Splice, error) { return s.Unset(n, field) },
			func() (*luaedit.Script, luaedit.Splice, error) { return s.SetName(n, 0, value) },
			func() (*luaedit.Script, luaedit.Splice, error) { return s.CutName(n, 0) },
			func() (*luaedit.Script, luaedit.Splice, error) { return s.Insert(n, value) },
			func() (*luaedit.Script, luaedit.Splice, error) { return s.Remove(n) },
			func() (*luaedit.Script, luaedit.Splice, error) { return s.Move(n, len(field)) },
		} {
			if out, sp, err := do(); err == nil {
				require.Equal(t, out.Text, text[:sp.From]+sp.Text+text[sp.To:])
			}
		}
		_, _ = s.Source(n)
	})
}
