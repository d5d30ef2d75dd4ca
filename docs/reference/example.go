package reference

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/rogpeppe/go-internal/txtar"

	"github.com/luaccm/ccm/luaapi/spec"
	"github.com/luaccm/ccm/runtime/converge"
	"github.com/luaccm/ccm/runtime/diag"
	"github.com/luaccm/ccm/runtime/event"
	"github.com/luaccm/ccm/runtime/report"
	"github.com/luaccm/ccm/site"
)

// An Example is a script that shows a type.
type Example struct {
	Script string
	// Notes are further paragraphs and blocks, in Markdown.
	Notes []string
	// Machine describes in words the machine on which it is planned.
	Machine string
	// Plan is the output of ccm plan on that machine.
	Plan string
	// Fixture is that machine.
	Fixture spec.Fixture
}

// A machine is the section machine.json of an example: the fixture of a spec, and what it is in
// words.
type machine struct {
	Words string
	spec.Fixture
}

// ReadExample reads the example of a type from an archive in the format of txtar (package
// txtar of Go): the script site.lua, machine.json with the machine on which it is planned, and
// further files of the site. Without a script it is the one in the comment at the beginning of
// source, which is that of the type if it is written in Lua. The plan is made by p in the working
// directory, which has to be empty, for a machine that is a temporary directory.
func ReadExample(ctx context.Context, p *site.Process, archive []byte, source string) (Example, error) {
	example := fromComment(source)
	var m machine
	for _, f := range txtar.Parse(archive).Files {
		switch f.Name {
		case "site.lua":
			example.Script = string(f.Data)
		case "machine.json":
			decoder := json.NewDecoder(bytes.NewReader(f.Data))
			decoder.DisallowUnknownFields()
			if err := decoder.Decode(&m); err != nil {
				return example, fmt.Errorf("machine.json: %w", err)
			}
		default:
			if err := os.MkdirAll(filepath.Dir(f.Name), 0o755); err != nil {
				return example, err
			}
			if err := os.WriteFile(f.Name, f.Data, 0o644); err != nil {
				return example, err
			}
		}
	}
	example.Machine, example.Fixture = m.Words, m.Fixture
	err := os.WriteFile("site.lua", []byte(example.Script), 0o644)
	if err == nil {
		example.Plan, err = plan(ctx, p, m.Fixture)
	}
	return example, err
}

// plan returns the output of a plan of site.lua on a machine.
func plan(ctx context.Context, p *site.Process, m spec.Fixture) (string, error) {
	root, err := os.MkdirTemp("", "ccm-reference")
	if err != nil {
		return "", err
	}
	defer os.RemoveAll(root)
	c, err := site.LoadSpec(ctx, p, root, "site.lua", m)
	if err != nil {
		var text bytes.Buffer
		diag.Render(&text, "", err, nil)
		return "", fmt.Errorf("%s", text.String())
	}
	var text bytes.Buffer
	t := report.Text{W: &text, Diff: report.DiffChanges, Site: "site.lua"}
	engine := &converge.Engine{Registry: c.Site.Registry, Facts: c.Site.Facts, Reporters: []event.Reporter{t}, Sequential: true, Texts: true}
	t.Summary(engine.Plan(ctx, &c.Site.Host.View, c.Site.Catalog))
	// How long it takes is not the same twice.
	said := took().ReplaceAllString(strings.ReplaceAll(text.String(), root, ""), "$1")
	return blank().ReplaceAllString(said, ""), nil // an indented line of blanks would be lost in Markdown
}

// fromComment returns the example in the comment that a module begins with: its first block of
// indented lines. What follows are notes.
func fromComment(source string) (e Example) {
	var lines []string
	for line := range strings.Lines(source) {
		comment, ok := strings.CutPrefix(strings.TrimRight(line, "\n"), "--")
		if !ok {
			break
		}
		lines = append(lines, strings.TrimPrefix(comment, " "))
	}
	var blocks []string
	for i, line := range lines {
		indented := strings.HasPrefix(line, "  ")
		if line == "" || i == 0 || strings.HasPrefix(lines[i-1], "  ") != indented {
			blocks = append(blocks, "")
		}
		if line != "" {
			blocks[len(blocks)-1] += line + "\n"
		}
	}
	for _, b := range blocks {
		isCode := strings.HasPrefix(b, "  ")
		switch {
		case b == "":
		case isCode && e.Script == "":
			for line := range strings.Lines(b) {
				e.Script += strings.TrimPrefix(line, "  ")
			}
		case e.Script == "": // what the type is for
		case isCode:
			e.Notes = append(e.Notes, "    "+strings.TrimSpace(strings.ReplaceAll(b, "\n  ", "\n    ")))
		default:
			e.Notes = append(e.Notes, strings.TrimSpace(b))
		}
	}
	return e
}
