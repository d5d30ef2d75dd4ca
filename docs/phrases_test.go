package docs

import (
	"go/ast"
	"go/parser"
	"go/token"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"unicode"
	"unicode/utf8"

	"github.com/stretchr/testify/require"
)

// bannedPhrases are those of the style guide: an operator would not use them.
var bannedPhrases = regexp.MustCompile(`(?i)` + strings.Join([]string{
	`\banew\b`,
	`\b(?:told|tells?|says?|said)\b`,
	`(?:^|[^e] |[^r]e )is no (?:[a-km-z]|l[^o]|%[a-z])`, // but not: there is no,
	`\bdeclares? no more\b|\bdeclared no more\b`,
	`\bas wanted\b`,
	`\b(?:is|are|be) in order(?:$|[^ ]| [^t])|\bbr(?:ing|ings|ought)(?: \S+){1,4} in order\b|\bbrought in order\b`,
	`\bwhat is (?:not )?so\b`,
	`\bstands?\b`,
	`\bg(?:ives?|ave|iven) (?:\S+ ){1,3}back\b|\bg(?:ives?|ave|iven) back\b`,
	`\bhad better\b|\bby then\b|\bany ?more\b`,
	`\bwants? (?:[a-z]|%)[^,]*, (?:got|found)\b`,
}, "|"))

// quotedPhrases are texts of protocols, which stay as they are: words of the documents and of other programs.
var quotedPhrases = []string{
	"map has no entry for key (\".*\")$", // text/template
}

// TestPhrases: messages, help and the comments of exported names have none of the banned phrases.
func TestPhrases(t *testing.T) {
	require.Regexp(t, bannedPhrases, "2 resources are as wanted")
	require.NotRegexp(t, bannedPhrases, "in order to restart, list them in order")
	eachGoFile(t, func(short string, files *token.FileSet, f *ast.File) {
		check := func(pos token.Pos, text string) {
			if found := bannedPhrases.FindString(text); found != "" && !slices.Contains(quotedPhrases, text) {
				t.Errorf("%s: %q: banned phrase %q", files.Position(pos), text, found)
			}
		}
		eachText(t, f, check)
		for _, d := range f.Decls {
			switch d := d.(type) {
			case *ast.FuncDecl:
				if ast.IsExported(d.Name.Name) && (d.Recv == nil || ast.IsExported(receiver(d.Recv.List[0].Type))) {
					check(d.Pos(), strings.TrimPrefix(d.Doc.Text(), d.Name.Name))
				}
			case *ast.GenDecl:
				for _, s := range d.Specs {
					if typ, ok := s.(*ast.TypeSpec); ok && ast.IsExported(typ.Name.Name) {
						check(typ.Pos(), strings.TrimPrefix(d.Doc.Text()+typ.Doc.Text(), typ.Name.Name))
						eachMember(typ.Type, func(m *ast.Field) { check(m.Pos(), withoutName(m)) })
					}
				}
			}
		}
	})
}

// eachMember visits the exported fields of a struct, or the methods of an interface.
func eachMember(typ ast.Expr, visit func(*ast.Field)) {
	ast.Inspect(typ, func(n ast.Node) bool {
		if m, ok := n.(*ast.Field); ok && (len(m.Names) == 0 || ast.IsExported(m.Names[0].Name)) {
			visit(m)
		}
		return true
	})
}

// withoutName returns the comment of a field or method without its name, which may be a verb such as Tell.
func withoutName(m *ast.Field) string {
	text := m.Doc.Text() + m.Comment.Text()
	if len(m.Names) > 0 {
		text = strings.TrimPrefix(text, m.Names[0].Name)
	}
	return text
}

// textGlobs match the files that people read or copy, besides the pages (prose_test.go) and Go code.
var textGlobs = []string{
	"*.md", ".ci/package/release.yaml", "stdlib/std/*.lua", "luaapi/stubs/*.lua", "cmd/ccm/author/newsite/*", "cmd/ccm/author/newsite/*/*",
	"examples/*/*", "examples/*/*/*", "examples/*/*/*/*", "*/web/*.html", "*/web/*.js", "*/web/*/*.html",
	"*/web/*/*.js", "runtime/report/*/*.html", "runtime/report/*/*.js", "docs/website/*.html", "docs/website/*.js",
}

// textOfScript matches what a program in JavaScript shows: strings, and text between tags. Comments are matched too,
// because they may contain quotation marks.
var textOfScript = regexp.MustCompile(`//[^\n]*|"(?:[^"\\\n]|\\.)*"|>[^<>{}$` + "`" + `\n]+<`)

// TestPhrasesOfTexts: scripts, pages of browsers and texts for contributors have none of the banned phrases.
func TestPhrasesOfTexts(t *testing.T) {
	for _, glob := range textGlobs {
		names, err := filepath.Glob(filepath.Join(root, glob))
		require.NoError(t, err)
		require.NotEmpty(t, names, glob)
		for _, name := range names {
			if info, err := os.Stat(name); err != nil || info.IsDir() {
				continue
			}
			content, err := os.ReadFile(name)
			require.NoError(t, err)
			for i, line := range strings.Split(string(content), "\n") {
				texts := []string{line}
				if filepath.Ext(name) == ".js" {
					texts = slices.DeleteFunc(textOfScript.FindAllString(line, -1), func(s string) bool { return strings.HasPrefix(s, "//") })
				}
				for _, text := range texts {
					if found := bannedPhrases.FindString(text); found != "" {
						t.Errorf("%s:%d: %q: banned phrase %q", name, i+1, text, found)
					}
				}
			}
		}
	}
}

// longestUsage is the most characters that the help of a flag may have.
const longestUsage = 70

// flagMethod matches the methods of pflag that define a flag; its help is their last argument.
var flagMethod = regexp.MustCompile(`^(?:(?:Bool|String|StringArray|StringSlice|StringToString|Duration|Int|Uint|Float64|Count)(?:VarP?|P)?|VarPF?|VarP?)$`)

// TestUsages: the help of a flag is short, begins with a small letter and ends without a full stop.
func TestUsages(t *testing.T) {
	n := 0
	eachGoFile(t, func(short string, files *token.FileSet, f *ast.File) {
		check := func(e ast.Expr) {
			text, ok := literalText(e)
			if !ok || text == "" {
				return
			}
			n++
			switch first, size := utf8.DecodeRuneInString(text); {
			case utf8.RuneCountInString(strings.ReplaceAll(text, "`", "")) > longestUsage:
				t.Errorf("%s: %q: longer than %d characters", files.Position(e.Pos()), text, longestUsage)
			case strings.HasSuffix(text, "."):
				t.Errorf("%s: %q: ends with a full stop", files.Position(e.Pos()), text)
			case unicode.IsUpper(first) && !isName(text[size:]):
				t.Errorf("%s: %q: begins with a capital letter", files.Position(e.Pos()), text)
			}
		}
		ast.Inspect(f, func(n ast.Node) bool {
			switch n := n.(type) {
			case *ast.CallExpr:
				if sel, ok := n.Fun.(*ast.SelectorExpr); ok && flagMethod.MatchString(sel.Sel.Name) && len(n.Args) >= 3 {
					check(n.Args[len(n.Args)-1])
				}
			case *ast.ValueSpec:
				for i, name := range n.Names {
					if strings.HasSuffix(name.Name, "Usage") && i < len(n.Values) {
						check(n.Values[i])
					}
				}
			}
			return true
		})
	})
	require.Greater(t, n, 200, "flags found")
}

// errorMaker matches the functions that make an error or a hint from a text.
var errorMaker = regexp.MustCompile(`^(?:Errorf|New|WithHint|Expected|Got|Found|MustBe|Unknown|NotFound|Required|` +
	`RequiredUnless|Conflicting|None|Not|Missing|Exists|Already|Duplicate|Requires|Exceeds|Cannot|SubjectCannot|Damaged|` +
	`Invalid|Nothing|OfKind|Contains|Mismatch|Too|TooMany|AppliesOnly|ProgramNotFound|Unexpected|` +
	`Meanwhile|OnlyRoot|Lacks|Unterminated|OtherFormat|OfAnother|TimedOut|With|Gone|InUse|Failed|Rejected|Interrupted)$`)

// packageOfMaker is the package of functions whose names others have too.
var packageOfMaker = map[string]string{"New": "errors", "Contains": "diag", "Failed": "diag"}

// makesError returns the text from which a call makes an error or a hint.
func makesError(call *ast.CallExpr) (text string, arg ast.Expr, ok bool) {
	sel, isSel := call.Fun.(*ast.SelectorExpr)
	if !isSel || !errorMaker.MatchString(sel.Sel.Name) {
		return "", nil, false
	}
	pkg, _ := sel.X.(*ast.Ident)
	if of := packageOfMaker[sel.Sel.Name]; of != "" && (pkg == nil || pkg.Name != of) {
		return "", nil, false
	}
	for _, arg := range call.Args {
		if text, ok := literalText(arg); ok {
			return text, arg, true
		}
	}
	return "", nil, false
}

// TestErrorsBeginSmall: errors and hints begin with a small letter, unless it is one of a name, and end without a full
// stop.
func TestErrorsBeginSmall(t *testing.T) {
	eachGoFile(t, func(short string, files *token.FileSet, f *ast.File) {
		ast.Inspect(f, func(n ast.Node) bool {
			call, ok := n.(*ast.CallExpr)
			if !ok {
				return true
			}
			text, arg, ok := makesError(call)
			if !ok || text == "" {
				return true
			}
			if first, size := utf8.DecodeRuneInString(text); unicode.IsUpper(first) && !isName(text[size:]) {
				t.Errorf("%s: %q: begins with a capital letter", files.Position(arg.Pos()), text)
			}
			if strings.HasSuffix(text, ".") && !strings.HasSuffix(text, "..") {
				t.Errorf("%s: %q: ends with a full stop", files.Position(arg.Pos()), text)
			}
			return true
		})
	})
}

// properNames are the words that have a capital letter in a message. All words with two capitals or more have too.
var properNames = regexp.MustCompile(`^(?:[A-Z]|[a-zA-Z]*[A-Z0-9]|(?:ua|inux|hef|nsible|uppet|horia|it|ebian|buntu|edora|lpine|indows|elix|inja|tudio|hocolatey|omebrew|odman|ocker|era|iera|ython|erraform|flatpak|nix|penSSH|ubernetes)\b)`)

// isName reports whether a text that begins with a capital letter, without that, begins with a name or an
// abbreviation.
func isName(rest string) bool { return properNames.MatchString(rest) }

// messageShape matches what differs between messages of one shape: verbs, quoted names, flags and numbers.
var messageShape = regexp.MustCompile("%(?:\\[\\d\\])?[-+#*.\\d]*[a-zA-Z]|\"[^\"]*\"|`[^`]*`|--?[a-z][-a-z]*|\\b\\d+\\b")

// place and hint match what is before and after the statement of a message, which has the form PLACE: SUBJECT: what is
// wrong (how to fix it): names of one word, kinds with a name, and the text in parentheses at the end.
var (
	place = regexp.MustCompile(`^(?:(?:[^\s:*]+ )?\*: |[^\s:]+: )+`)
	// operation matches what failed, or where, before another error: "ssh-keygen *: *", "lock of *: *".
	operation = regexp.MustCompile(`^(?:the |at )?[^\s:]+(?: [^\s:]+)?(?: \*)?(?: (?:of|on|from|in|to|and) (?:the |a |an )?[^\s:]+(?: \*)?)*: \*$`)
	// wordless matches what only puts other texts together.
	wordless = regexp.MustCompile(`^[^\pL]*$`)
	hint     = regexp.MustCompile(` \([^()]*\)$`)
)

// shapeOf returns what two messages of one kind have in common.
func shapeOf(text string) string {
	text = place.ReplaceAllString(messageShape.ReplaceAllString(text, "*"), "")
	text = hint.ReplaceAllString(operation.ReplaceAllString(text, "*"), "")
	return wordless.ReplaceAllString(text, "*")
}

// notForUsers are packages whose messages are for people who work on ccm or on a provider.
var notForUsers = regexp.MustCompile(`^(?:test|docs|runtime/resource/contract|runtime/host/hosttest|` +
	`providers/pkgtool/pkgtooltest)/`)

// mostShapes is the most shapes that the messages of errors may have. Lower it when there are fewer.
const mostShapes = 186

// TestMessageShapes counts the shapes of messages that are not made by the constructors of runtime/diag/message.go.
func TestMessageShapes(t *testing.T) {
	shapes, messages := map[string][]string{}, 0
	for _, name := range goFiles(t) {
		short := strings.TrimPrefix(name, root+"/")
		if short == messageFile || notForUsers.MatchString(short) {
			continue
		}
		f, err := parser.ParseFile(token.NewFileSet(), name, nil, parser.SkipObjectResolution)
		require.NoError(t, err)
		ast.Inspect(f, func(n ast.Node) bool {
			if call, ok := n.(*ast.CallExpr); ok {
				sel, _ := call.Fun.(*ast.SelectorExpr)
				if text, _, ok := makesError(call); ok && (sel.Sel.Name == "Errorf" || sel.Sel.Name == "New") {
					messages++
					shape := shapeOf(text)
					shapes[shape] = append(shapes[shape], short)
				}
			}
			return true
		})
	}
	for _, shape := range slices.Sorted(maps.Keys(shapes)) {
		t.Logf("%d  %s  (%s)", len(shapes[shape]), shape, shapes[shape][0])
	}
	t.Logf("%d messages of %d shapes", messages, len(shapes))
	require.LessOrEqual(t, len(shapes), mostShapes)
}

// eachGoFile parses each Go file that is not a test.
func eachGoFile(t *testing.T, visit func(short string, files *token.FileSet, f *ast.File)) {
	for _, name := range goFiles(t) {
		short := strings.TrimPrefix(name, root+"/")
		files := token.NewFileSet()
		f, err := parser.ParseFile(files, name, nil, parser.ParseComments|parser.SkipObjectResolution)
		require.NoError(t, err)
		visit(short, files, f)
	}
}

// eachText visits the string literals of a file, except import paths and tags of fields.
func eachText(t *testing.T, f *ast.File, visit func(token.Pos, string)) {
	ast.Inspect(f, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.ImportSpec:
			return false
		case *ast.Field:
			n.Tag = nil
		case *ast.BasicLit:
			if n.Kind == token.STRING {
				text, err := strconv.Unquote(n.Value)
				require.NoError(t, err)
				visit(n.Pos(), text)
			}
		}
		return true
	})
}

// literalText returns the text of a string literal, or of some that are put together with other strings, which count
// as nothing.
func literalText(e ast.Expr) (string, bool) {
	switch e := e.(type) {
	case *ast.BasicLit:
		text, err := strconv.Unquote(e.Value)
		return text, err == nil && e.Kind == token.STRING
	case *ast.BinaryExpr:
		left, leftOK := literalText(e.X)
		right, rightOK := literalText(e.Y)
		return left + right, leftOK || rightOK
	}
	return "", false
}
