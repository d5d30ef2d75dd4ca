package inspect

import (
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"slices"
	"strconv"
	"strings"
	"unicode"

	"github.com/kballard/go-shellquote"
	"github.com/spf13/cobra"

	"github.com/luaccm/ccm/cmd/ccm/cli"
	"github.com/luaccm/ccm/runtime/data"
	"github.com/luaccm/ccm/runtime/diag"
	"github.com/luaccm/ccm/runtime/facts"
	"github.com/luaccm/ccm/runtime/manifest"
	"github.com/luaccm/ccm/site"
)

// dataFlags are the flags of data.
type dataFlags struct {
	cli.SiteFlags
	given    []string
	overlays []string
	envFacts bool
	env      bool
	yaml     bool
	prefix   string
	query    string
	output   *cli.Choice
}

// DataCommand returns the command data.
func DataCommand(e *cli.Env) *cobra.Command {
	f := &dataFlags{}
	cmd := &cobra.Command{
		Use:   "data FILE [KEY] [NAME=VALUE...]",
		Short: "Print the data of a hierarchy document for this machine",
		Long: `Print the data of a hierarchy document, resolved with this machine's facts. Read-only.

  ccm data site.yaml web --fact os.family=debian --output yaml
  eval "$(ccm data site.yaml --env)"; echo "$HIERA_WEB"

KEY selects a part, with a path such as web.port in GJSON syntax. A manifest is a
hierarchy document too. Arguments that contain = are facts.`,
	}
	addData(e, cmd, f)
	return cmd
}

// HieraCommand returns the command data under the name that Choria has for it.
func HieraCommand(e *cli.Env) *cobra.Command {
	cmd := &cobra.Command{
		Use: "hiera", Short: "Resolve hierarchy documents (alias of data)", Hidden: true,
	}
	parse := &cobra.Command{
		Use: "parse FILE [NAME=VALUE...]", Aliases: []string{"resolve"},
		Short: "Print the data of a hierarchy document for this machine",
	}
	f := &dataFlags{}
	addData(e, parse, f)
	parse.Flags().StringVar(&f.query, "query", "", "only print the value at `KEY`")
	parse.Flags().BoolP("system-facts", "S", true, "ignored: facts of this machine are always used")
	parse.Flags().Lookup("system-facts").Hidden = true
	cmd.AddCommand(parse)
	cli.NeedCommand(cmd)
	return cmd
}

func addData(e *cli.Env, cmd *cobra.Command, f *dataFlags) {
	fs := cmd.Flags()
	fs.SortFlags = false
	f.output = cli.NewChoice("json", "json", "yaml", "env", "text")
	fs.Var(f.output, "output", "output format: json, yaml, env (shell variables) or text")
	fs.BoolVar(&f.env, "env", false, "same as --output env")
	fs.BoolVar(&f.yaml, "yaml", false, "same as --output yaml")
	fs.StringVar(&f.prefix, "env-prefix", "HIERA", "prefix for names of variables")
	fs.StringArrayVarP(&f.given, "set", "D", nil, "override data with `KEY=VALUE` (repeatable)")
	fs.StringArrayVar(&f.given, "data", nil, "same as --set")
	fs.Lookup("data").Hidden = true
	fs.StringArrayVar(&f.overlays, "data-file", nil, "override data with hierarchy document `FILE` (repeatable)")
	fs.StringArrayVar(&f.Facts.Assignments, "fact", nil, "set fact `NAME=VALUE` (repeatable)")
	fs.StringVar(&f.Facts.File, "facts", "", "read additional facts from `FILE` (JSON or YAML)")
	fs.BoolVarP(&f.envFacts, "env-facts", "E", false, "include environment variables in the facts")
	fs.BoolVar(&f.Data.ReadEnv, "read-env", true, "read environment variables for expressions from ./"+site.DotenvFile)
	cmd.Args = func(cmd *cobra.Command, args []string) error {
		if len(args) == 0 {
			return diag.At(diag.Pos{}, diag.Expected("a hierarchy document")).WithHint("%s", cmd.UseLine())
		}
		return nil
	}
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		keys := 0
		for _, arg := range args[1:] {
			if strings.Contains(arg, "=") {
				f.Facts.Assignments = append(f.Facts.Assignments, arg)
				continue
			}
			if keys++; keys > 1 {
				return diag.At(diag.Pos{}, diag.Expected("one key").Got("also %q", arg)).WithHint("%s", cmd.UseLine())
			}
			f.query = arg
		}
		return printResolved(e, cmd, f, args[0])
	}
}

// printResolved prints the data of a hierarchy document.
func printResolved(e *cli.Env, cmd *cobra.Command, f *dataFlags, name string) error {
	if f.env {
		f.output.Value = "env"
	}
	if f.yaml {
		f.output.Value = "yaml"
	}
	val, err := resolveData(e, cmd, f, name)
	if err != nil {
		return err
	}
	if f.output.Value == "env" {
		return writeVariables(e.Print().Data(), f.prefix, val)
	}
	return e.Print().Plain(val, f.output.Value)
}

// resolveData returns the data of a hierarchy document, or the value at a key.
func resolveData(e *cli.Env, cmd *cobra.Command, f *dataFlags, name string) (any, error) {
	if f.envFacts {
		// Facts that are named on the command line win.
		var all []string
		for key, val := range site.Environ() {
			all = append(all, strings.NewReplacer(`\`, `\\`, ".", `\.`).Replace(key)+"="+strconv.Quote(val))
		}
		slices.Sort(all)
		f.Facts.Assignments = append(all, f.Facts.Assignments...)
	}
	fs, err := e.Facts(cmd.Context(), &e.Host("").View, f.Facts)
	if err != nil {
		return nil, err
	}
	f.Data.Site = name
	l, err := f.Data.Loader(e.Process, fs)
	if err != nil {
		return nil, err
	}
	for _, file := range f.overlays {
		text, err := e.Files.ReadFile(file)
		if err != nil {
			return nil, err
		}
		l.Overlays = append(l.Overlays, manifest.Source{File: file, Text: string(text)})
	}
	given := map[string]any{}
	for _, a := range f.given {
		tree, err := facts.ParseAssignment(a)
		if err != nil {
			return nil, fmt.Errorf("--set: %w", err)
		}
		given = data.Merge(given, tree)
	}
	shown, text, err := e.ReadInput(cmd.Context(), name)
	if err != nil {
		return nil, err
	}
	tree, err := l.Data(manifest.Source{File: shown, Text: text}, given)
	if err != nil || f.query == "" {
		return data.Shown(tree), err
	}
	return l.Env(tree, "").Lookup("data." + f.query)
}

// writeVariables prints data as assignments for a shell, a variable for each key at the top. Values
// other than texts and numbers become JSON.
func writeVariables(w io.Writer, prefix string, val any) error {
	tree, ok := val.(map[string]any)
	if !ok {
		tree = map[string]any{"value": val}
	}
	for _, key := range slices.Sorted(maps.Keys(tree)) {
		text, err := variableText(tree[key])
		if err != nil {
			return fmt.Errorf("%s: %w", key, err)
		}
		if _, err := fmt.Fprintf(w, "%s_%s=%s\n", prefix, variableName(key), shellquote.Join(text)); err != nil {
			return err
		}
	}
	return nil
}

// variableName returns the name of the variable for a key: in capitals, with _ for characters that
// a variable's name cannot have.
func variableName(key string) string {
	return strings.Map(func(r rune) rune {
		r = unicode.ToUpper(r)
		if r < 128 && (unicode.IsLetter(r) || unicode.IsDigit(r)) {
			return r
		}
		return '_'
	}, key)
}

// variableText returns the text of a variable. A value that is no scalar becomes JSON.
func variableText(val any) (string, error) {
	switch x := val.(type) {
	case nil:
		return "", nil
	case string:
		if strings.ContainsRune(x, 0) {
			return "", diag.SubjectCannot("variables", "contain NUL bytes")
		}
		return x, nil
	case float64:
		return strconv.FormatFloat(x, 'f', -1, 64), nil
	case bool, int64:
		return fmt.Sprint(x), nil
	}
	var b strings.Builder
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	err := enc.Encode(val)
	return strings.TrimSuffix(b.String(), "\n"), err
}
