package author

import (
	"bytes"
	"context"
	"errors"
	"io/fs"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"

	"github.com/luaccm/ccm/cmd/ccm/cli"
	"github.com/luaccm/ccm/luaapi/stubs"
	"github.com/luaccm/ccm/runtime/diag"
	"github.com/luaccm/ccm/runtime/host"
	"github.com/luaccm/ccm/runtime/safepath"
	"github.com/luaccm/ccm/runtime/terminal"
	"github.com/luaccm/ccm/runtime/words"
	"github.com/luaccm/ccm/site"
)

// TypesCommand returns the command types.
func TypesCommand(e *cli.Env) *cobra.Command {
	f := &cli.SiteFlags{}
	withFacts, force := false, false
	definitions := ""
	cmd := &cobra.Command{
		Use:   "types [DIR]",
		Short: "Write definition files for editors and linters",
		Long: `Write definition files for editors and linters.

  ccm types

It writes definitions for the Lua language server to .ccm/types of the site, and
configuration of the language server, selene and luacheck. Editors then complete
properties and flag unknown ones. Existing configuration files that ccm types did
not write are kept.`,
		Args: cli.WantArguments(0, 1),
		RunE: func(cmd *cobra.Command, args []string) error {
			if definitions != "" && len(args) > 0 {
				return diag.At(diag.Pos{}, diag.Expected("either DIR or --definitions"))
			}
			lang, err := language()
			if err != nil {
				return err
			}
			if withFacts {
				if lang.Facts, err = factTree(cmd.Context(), e, f); err != nil {
					return err
				}
			}
			if definitions != "" {
				return writeDefinitions(e, lang, definitions)
			}
			dir := "."
			if len(args) > 0 {
				dir = args[0]
			}
			libraries, err := moduleDirectories(e, dir)
			if err != nil {
				return err
			}
			return writeFiles(e, dir, editorFiles(lang, libraries...), force)
		},
	}
	fl := cmd.Flags()
	fl.BoolVar(&withFacts, "facts", false, "include facts specific to this machine")
	fl.StringArrayVar(&f.Facts.Assignments, "fact", nil, "include fact `NAME=VALUE` (repeatable; requires --facts)")
	fl.BoolVar(&force, "force", false, "overwrite configuration that ccm types did not write")
	fl.StringVar(&definitions, "definitions", "", "write only the definitions, to `FILE` (- is standard output)")
	return cmd
}

// factTree returns the facts of this machine, without those that cannot be gathered, for which it
// prints a message.
func factTree(ctx context.Context, e *cli.Env, f *cli.SiteFlags) (map[string]any, error) {
	facts, err := e.Facts(ctx, &e.Host("").View, f.Facts)
	if err != nil {
		return nil, err
	}
	tree, err := facts.Tree()
	if err != nil {
		e.Messages.Explain(err)
	}
	return tree, nil
}

// language returns the types, libraries and facts of scripts.
func language() (*stubs.Language, error) {
	reg, err := site.Documented()
	if err != nil {
		return nil, err
	}
	return site.LanguageOf(reg)
}

func writeDefinitions(e *cli.Env, lang *stubs.Language, file string) error {
	var b bytes.Buffer
	lang.Definitions(&b)
	if file == "-" {
		_, err := e.Print().Data().Write(b.Bytes())
		return err
	}
	return cli.Machine(e).Save(file, b.Bytes(), 0o644)
}

// A writtenFile is a file that ccm types or ccm init writes.
type writtenFile struct {
	name string
	text []byte
	// own says that only ccm writes the file. Other files are overwritten only if ccm wrote them.
	own bool
}

// moduleDirectories returns the directories of the modules that a site has locked.
func moduleDirectories(e *cli.Env, dir string) ([]string, error) {
	s, err := e.Files.LockedSite(dir, false)
	if err != nil || s == nil {
		return nil, err
	}
	copies, err := s.Copies()
	if err != nil {
		return nil, err
	}
	here, err := filepath.Abs(dir)
	if err != nil {
		return nil, err
	}
	var list []string
	for _, c := range copies {
		if rel, err := filepath.Rel(here, c.Dir); err == nil && filepath.IsLocal(rel) {
			list = append(list, rel)
		} else {
			list = append(list, c.Dir)
		}
	}
	return list, nil
}

// editorFiles returns the files that ccm types writes. Libraries are directories with modules of
// other authors.
func editorFiles(lang *stubs.Language, libraries ...string) []writtenFile {
	var definitions, luacheck, selene bytes.Buffer
	lang.Definitions(&definitions)
	lang.Luacheck(&luacheck)
	lang.Selene(&selene)
	files := []writtenFile{
		{name: stubs.TypesDir + "/ccm.d.lua", text: definitions.Bytes(), own: true},
		{name: stubs.TypesDir + "/spec.d.lua", text: stubs.Spec, own: true},
	}
	for _, m := range lang.Modules {
		var b bytes.Buffer
		stubs.WriteModule(&b, m)
		files = append(files, writtenFile{name: stubs.TypesDir + "/" + strings.ReplaceAll(m.Name, ".", "/") + ".lua", text: b.Bytes(), own: true})
	}
	return append(files, []writtenFile{
		{name: ".luacheckrc", text: luacheck.Bytes()},
		{name: ".luarc.json", text: stubs.Luarc(libraries...)},
		{name: "ccm.yml", text: selene.Bytes()},
		{name: "selene.toml", text: stubs.SeleneConfig()},
	}...)
}

// writeFiles writes files below a directory and says which.
func writeFiles(e *cli.Env, dir string, files []writtenFile, force bool) error {
	h, w := cli.Machine(e), e.Stdout
	editors := 0
	for _, f := range files {
		path := filepath.Join(dir, filepath.FromSlash(f.name))
		old, err := readExisting(h, path)
		switch {
		case err == nil && bytes.Equal(old, f.text):
			terminal.Fprintf(w, "unchanged %s\n", path)
			continue
		case err == nil && !f.own && !force && !bytes.Contains(old, []byte(stubs.Mark)):
			terminal.Fprintf(w, "kept %s, which ccm types did not write (overwrite it with --force)\n", path)
			continue
		case err != nil && !errors.Is(err, fs.ErrNotExist):
			return err
		}
		if err := h.SaveDirectory(filepath.Dir(path)); err != nil {
			return err
		}
		if err := h.Save(path, f.text, 0o644); err != nil {
			return err
		}
		if f.own {
			editors++
			continue
		}
		terminal.Fprintf(w, "wrote %s\n", path)
	}
	if editors > 0 {
		terminal.Fprintf(w, "wrote %s in %s\n", words.Count(editors, "file for editors", "files for editors"), filepath.Join(dir, filepath.FromSlash(stubs.TypesDir)))
	}
	return nil
}

// readExisting reads a file that is about to be written.
func readExisting(h *host.Host, path string) ([]byte, error) {
	abs, err := filepath.Abs(path)
	if err != nil {
		return nil, err
	}
	return h.ReadUpTo(abs, safepath.LargestText)
}
