package studio

import (
	"context"
	"path/filepath"

	"github.com/luaccm/ccm/luaapi/lint"
	"github.com/luaccm/ccm/studio/model"
)

// makeLinter returns the linter of scripts, nil if there is none.
func (o Options) makeLinter() (*lint.Linter, error) {
	if o.Linter == nil {
		return nil, nil
	}
	return o.Linter()
}

// lint adds the results of ccm lint on a script as warnings, except on lines with a mistake: both
// often mean the same.
func (c *check) lint(ctx context.Context, out *checkResult) {
	if c.language != model.Lua || ctx.Err() != nil {
		return
	}
	made, err := c.by.linter()
	if made == nil || err != nil {
		return // the declared types of this program are wrong; tests report that
	}
	l := *made
	l.ReadFile = func(path string) ([]byte, error) {
		absolute := path
		if !filepath.IsAbs(path) {
			absolute = c.by.pathOf(path)
		}
		if text, ok := c.texts[absolute]; ok {
			return []byte(text), nil
		}
		return c.by.main.Files.Trust().ReadFile(ctx, absolute)
	}
	wrong := map[int]bool{}
	for _, m := range out.mistakes {
		if relative(c.by.directory, m.Pos.File) == c.name {
			wrong[m.Pos.Line] = true
		}
	}
	for _, f := range l.Check(c.name, c.texts[c.by.pathOf(c.name)]) {
		if !wrong[f.Pos.Line] {
			out.mistakes = append(out.mistakes, diagnosis{f.Error, "warning"})
		}
	}
}
