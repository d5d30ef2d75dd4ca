package docs

import (
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/luaccm/ccm/docs/markdown"
)

const (
	// mostPages is how many pages there may be besides the reference. The recipes count as one.
	mostPages = 40
	// mostWords is how many words all pages may have that are not generated, those of code and tables included.
	mostWords = 60_000
	// longestSentence is in words. A code span is one, and so is a list of them.
	longestSentence = 25
	// longestParagraph is in characters: five lines of 120.
	longestParagraph = 600
)

// bannedInPages are the phrases of the style guide that an operator would have to translate.
var bannedInPages = regexp.MustCompile(`(?i)` + strings.Join([]string{
	`\banew\b|\btold\b|\btells?\b|\bsays?\b|\bsaid\b|\bbelieved?s?\b`,
	`(?:^|[^e] |[^r]e )is no (?:[a-km-z]|l[^o])`, // but not: there is no
	`\bdeclare[sd]? no more\b|\bas wanted\b|\bwhat is (?:not )?so\b`,
	`\b(?:is|are|was|were|be|puts? it|keeps?) in order(?:$|[^ ]| [^t])|\bbr(?:ing|ings|ought)(?: \S+){0,4} in order\b`,
	`\bstands?(?:$|[^ a-z]| [^f])`, // but not: stands for
	`\bof it[.,;]|\bhad better\b|\bby then\b|\bg[ia]ves? (?:\S+ ){0,3}back\b`,
}, "|"))

var (
	sentenceEnd = regexp.MustCompile(`[.!?:;]\s+`)
	wordOfText  = regexp.MustCompile(`\S*[\pL\pN]\S*`)
	listOfCode  = regexp.MustCompile("X(?:,?(?: and| or)? X)+")
)

// isReference reports whether a page is looked up and not read.
func isReference(name string) bool {
	for _, g := range groups {
		if g.Title == "Reference" {
			return slices.Contains(g.Pages, name) || strings.HasPrefix(name, "reference/")
		}
	}
	panic("no chapter Reference")
}

// isGenerated reports whether a page is made from declarations in the code.
func isGenerated(name string) bool { return strings.HasPrefix(name, "reference/") || name == "stdlib" }

// TestProse: pages have short sentences and paragraphs, and none of the banned phrases.
func TestProse(t *testing.T) {
	require.Equal(t, 27, wordsOfLongest("One. "+strings.Repeat("word ", 26)+"end: two."))
	for _, bad := range []string{"it is no file", "what stands there", "puts it in order", "the end of it.", "is told"} {
		require.Regexp(t, bannedInPages, bad)
	}
	for _, good := range []string{"there is no file", "X stands for all", "is no longer declared", "in order to run"} {
		require.NotRegexp(t, bannedInPages, good)
	}
	paragraphs := 0
	for _, name := range Names() {
		if isGenerated(name) {
			continue
		}
		eachProse(markdown.Parse(Text(name)).Root, func(n *markdown.Node, text string) {
			if found := bannedInPages.FindString(text); found != "" {
				t.Errorf("docs/%s.md:%d: banned phrase %q in: %s", name, n.Line, found, text)
			}
			if n.Kind != markdown.KindParagraph {
				return
			}
			paragraphs++
			if words := wordsOfLongest(text); words > longestSentence {
				t.Errorf("docs/%s.md:%d: a sentence of %d words: %s", name, n.Line, words, text)
			}
			if len(text) > longestParagraph {
				t.Errorf("docs/%s.md:%d: a paragraph of %d characters: %.60s", name, n.Line, len(text), text)
			}
		})
	}
	require.Greater(t, paragraphs, 1000)
}

// eachProse visits the paragraphs, headings and cells of tables, with X in the place of code.
func eachProse(n *markdown.Node, visit func(n *markdown.Node, text string)) {
	switch n.Kind {
	case markdown.KindParagraph, markdown.KindHeading, markdown.KindCell:
		visit(n, proseOf(n))
	}
	for _, c := range n.Children {
		eachProse(c, visit)
	}
}

// proseOf returns the text of a node.
func proseOf(n *markdown.Node) string {
	if n.Kind == markdown.KindCodeSpan {
		return "X"
	}
	text := strings.ReplaceAll(n.Text, "\n", " ")
	for _, c := range n.Children {
		text += proseOf(c)
	}
	return text
}

// wordsOfLongest returns how many words the longest sentence has.
func wordsOfLongest(text string) (longest int) {
	for _, sentence := range sentenceEnd.Split(listOfCode.ReplaceAllString(text, "X")+" ", -1) {
		longest = max(longest, len(wordOfText.FindAllString(sentence, -1)))
	}
	return longest
}

// TestSizeOfPages counts the pages besides the reference, and the words of all that are not generated.
func TestSizeOfPages(t *testing.T) {
	pages, words := map[string]bool{}, 0
	for _, name := range Names() {
		if !isReference(name) {
			chapter, _, _ := strings.Cut(name, "/")
			pages[chapter] = true
		}
		if !isGenerated(name) {
			words += len(wordOfText.FindAllString(Text(name), -1))
		}
	}
	t.Logf("%d pages, %d words", len(pages), words)
	require.LessOrEqual(t, len(pages), mostPages)
	require.LessOrEqual(t, words, mostWords, "take as many words out of any page as you add: go test -v shows the count")
}
