package choria

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"text/template"

	"github.com/choria-io/scaffold"

	"github.com/luaccm/ccm/resources"
	"github.com/luaccm/ccm/runtime/diag"
	"github.com/luaccm/ccm/runtime/host"
	"github.com/luaccm/ccm/runtime/lazyregexp"
	"github.com/luaccm/ccm/runtime/resource"
	"github.com/luaccm/ccm/runtime/safepath"
	"github.com/luaccm/ccm/runtime/template/blocks"
)

// The directories in the scratch directory.
const (
	sourceDir = "source"
	targetDir = "target"
)

// partials is the name of directories with templates that only other templates render.
const partials = "_partials"

// The permissions of rendered files, before post and where no template says others.
const (
	fileMode = 0o644
)

// A rendering is the files rendered from the templates of a scaffold.
type rendering struct {
	scratch *host.Scratch
	files   []safepath.TreeEntry // in order of path
	// dirs lists the empty directories of the source.
	dirs []string
	// templates is the number of files in the source that are rendered by themselves.
	templates int
	// modes are the permissions of the templates, without those to write for others than the
	// owner: they depend on the umask of the checkout.
	modes map[string]uint32
	// sources lists all files in the source.
	sources []string
	// names are the paths into data that the templates name.
	names [][]string
	// sealedText is the printed form of an encrypted value, "" if there can be none.
	sealedText string
	// sums are the SHA-256 of the files, if only these are known.
	sums map[string]string
	key  *resource.DigestKey // for sums of files with secrets; may be nil
}

// path returns the path of a rendered file for the operating system.
func (r rendering) path(rel string) string { return r.scratch.Path(path.Join(targetDir, rel)) }

// render renders the templates of want, and passes the result to use. A nil run skips the post
// commands.
func (p *scaffolds) render(ctx context.Context, v *host.View, want resources.Scaffold, run runner, use func(r rendering) error) error {
	p.mu.Lock()
	defer p.mu.Unlock()
	return v.WithScratch(func(s *host.Scratch) error {
		r := rendering{scratch: s, modes: make(map[string]uint32)}
		literal, err := r.copySource(ctx, v, want)
		if err != nil {
			return fmt.Errorf("source: %w", err)
		}
		if r.templates > 0 {
			if err := p.engine(ctx, &r, want); err != nil {
				return r.explain(want, r.unclosed(ctx, v, want, err))
			}
		}
		if err := r.collect(ctx, v, want, literal); err != nil {
			return err
		}
		if run != nil {
			if err := r.runPost(ctx, want, run); err != nil {
				return err
			}
		}
		if err := ctx.Err(); err != nil {
			return err
		}
		return use(r)
	})
}

// copySource copies the templates to the scratch directory, prepared for the engine. It reports
// whether any of them has the text that stands for a missing value.
func (r *rendering) copySource(ctx context.Context, v *host.View, want resources.Scaffold) (literal bool, err error) {
	entries, err := v.Sources().Tree(ctx, want.Source, safepath.MaxNames)
	if err != nil {
		return false, err
	}
	if err := r.scratch.MakeDirectory(sourceDir); err != nil {
		return false, err
	}
	if err := r.scratch.MakeDirectory(targetDir); err != nil {
		return false, err
	}
	full := make(map[string]bool)
	for _, e := range entries {
		full[path.Dir(e.Rel)] = true
	}
	for _, e := range entries {
		partial := slices.Contains(strings.Split(e.Rel, "/"), partials)
		switch {
		case e.Kind == safepath.Directory:
			if !full[e.Rel] && !partial {
				r.dirs = append(r.dirs, e.Rel)
			}
			err = r.scratch.MakeDirectory(path.Join(sourceDir, e.Rel))
		case e.Kind != safepath.Regular:
			err = diag.Expected("files and directories").Found("%s at %s", e.Kind, e.Rel)
		case path.Base(e.Rel) == partials:
			err = diag.Expected("a directory").Found("a file at %s", e.Rel)
		default:
			if !partial {
				r.templates++
				r.modes[e.Rel] = e.Mode & 0o755
			}
			r.sources = append(r.sources, e.Rel)
			var text []byte
			if text, err = read(ctx, v, filepath.Join(want.Source, e.Rel)); err == nil {
				if want.Engine == resources.ScaffoldJet {
					warnOfDelims(v, want, e.Rel, text)
				}
				literal = literal || bytes.Contains(text, []byte(nothing(want.Engine)))
				left, right := delimiters(want)
				r.names = namedData(r.names, string(text), left, right)
				err = r.scratch.WriteFile(path.Join(sourceDir, e.Rel), prepare(want, text))
			}
		}
		if err != nil {
			return false, err
		}
	}
	return literal, nil
}

func read(ctx context.Context, v *host.View, file string) ([]byte, error) {
	f, err := v.Sources().Open(ctx, file)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	return io.ReadAll(f)
}

// endOfTemplate matches the errors of templates that end too early. It captures their names,
// which Jet gives without the directory.
var endOfTemplate = lazyregexp.New(`template: /?(.+):\d+: unexpected EOF`)

// unclosed adds the beginning of the unclosed block to the error of a template that ends too
// early.
func (r *rendering) unclosed(ctx context.Context, v *host.View, want resources.Scaffold, err error) error {
	m := endOfTemplate().FindStringSubmatch(err.Error())
	if m == nil {
		return err
	}
	left, right := delimiters(want)
	for _, rel := range r.sources {
		if rel != m[1] && path.Base(rel) != m[1] {
			continue
		}
		text, readErr := read(ctx, v, filepath.Join(want.Source, rel))
		if unclosed := blocks.Unclosed(err, string(text), left, right); readErr == nil && unclosed != err { //nolint:errorlint // is it another error?
			return unclosed
		}
	}
	return err
}

// engine renders one directory to the other by the library.
func (p *scaffolds) engine(ctx context.Context, r *rendering, want resources.Scaffold) (err error) {
	s := r.scratch
	env, err := p.env(ctx)
	if err != nil {
		return err
	}
	cfg := scaffold.Config{
		SourceDirectory: s.Path(sourceDir), TargetDirectory: s.Path(targetDir), MergeTargetDirectory: true,
	}
	cfg.CustomLeftDelimiter, cfg.CustomRightDelimiter = delimiters(want)
	r.sealedText = env.SealedText
	vars, err := variables(env, r.names)
	if err != nil {
		return err
	}
	funcs := template.FuncMap{"lookup": env.lookup, "keys": sortedKeys, "values": sortedValues, deepFunc: deep}
	maps.Copy(funcs, env.GoFunctions)
	lib, err := scaffold.New(cfg, funcs)
	if want.Engine == resources.ScaffoldJet {
		lib, err = scaffold.NewJet(cfg, jetFuncs(env, vars))
	}
	if err != nil {
		return err
	}
	defer func() { // both engines may panic
		if x := recover(); x != nil {
			err = fmt.Errorf("%v", x)
		}
	}()
	_, err = lib.Render(vars)
	return err
}

// delimiters returns the delimiters of code in templates.
func delimiters(want resources.Scaffold) (left, right string) {
	switch {
	case want.LeftDelimiter != "":
		return want.LeftDelimiter, want.RightDelimiter
	case want.Engine == resources.ScaffoldJet:
		return "[[", "]]"
	}
	return "{{", "}}"
}

// nothing returns the text that an engine writes for a missing value.
func nothing(engine resources.ScaffoldEngine) string {
	if engine == resources.ScaffoldJet {
		return "<nil>"
	}
	return "<no value>"
}

// collect lists the rendered files. A missing value is an error, unless a template has its text
// literally.
func (r *rendering) collect(ctx context.Context, v *host.View, want resources.Scaffold, literal bool) error {
	entries, err := r.scratch.Tree(targetDir)
	if err != nil {
		return err
	}
	for _, e := range entries {
		if e.Kind == safepath.Directory {
			continue
		}
		text, err := read(ctx, v, r.path(e.Rel))
		if err != nil {
			return err
		}
		if !literal && bytes.Contains(text, []byte(nothing(want.Engine))) {
			line := 1 + bytes.Count(text[:bytes.Index(text, []byte(nothing(want.Engine)))], []byte("\n"))
			return fmt.Errorf("%s: %w", e.Rel, diag.Contains(fmt.Sprintf("line %d of the output", line), "a missing value, printed as %s", nothing(want.Engine)))
		}
		if at := bytes.Index(text, []byte(r.sealedText)); r.sealedText != "" && at >= 0 {
			line := 1 + bytes.Count(text[:at], []byte("\n"))
			return fmt.Errorf("%s: %w", e.Rel, diag.Contains(fmt.Sprintf("line %d of the output", line),
				"an encrypted value (refer to it in the template as .data.db.password or .data)"))
		}
		if want.SkipEmpty && len(bytes.TrimSpace(text)) == 0 {
			continue
		}
		if err := r.scratch.SetMode(path.Join(targetDir, e.Rel), fileMode); err != nil {
			return err
		}
		e.Mode = fileMode
		r.files = append(r.files, e)
	}
	return nil
}

var (
	stagePath = lazyregexp.New(`/\S*/scaffold-render-\d+(/target)?`)
	jetDump   = lazyregexp.New(`(?s) not available in current \(.*\) or parent scope, global, or default variables`)
)

// explain replaces scratch paths in an error of the library by the user's paths, and removes
// values of variables from it.
func (r rendering) explain(want resources.Scaffold, err error) error {
	text := jetDump().ReplaceAllString(err.Error(), " is not defined")
	text = strings.ReplaceAll(text, r.scratch.Path(sourceDir), want.Source)
	text = stagePath().ReplaceAllStringFunc(text, func(at string) string {
		if strings.HasSuffix(at, "/target") {
			return want.Name
		}
		return path.Dir(want.Name)
	})
	if text == err.Error() {
		return err
	}
	return errors.New(text)
}
