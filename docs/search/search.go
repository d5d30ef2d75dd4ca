// Package search finds sections of the documentation. A query may have other words than the pages: it knows stems,
// synonyms and misspellings. Titles and headings count more than text.
//
// Begin with [Find].
package search

import (
	"cmp"
	"maps"
	"math"
	"path"
	"slices"
	"strings"
	"unicode"

	"github.com/kljensen/snowball/english"

	"github.com/luaccm/ccm/docs"
	"github.com/luaccm/ccm/docs/markdown"
	"github.com/luaccm/ccm/runtime/diag"
)

// A Result is a section that fits a query.
type Result struct {
	// Page is the name of the page that has the section.
	Page string
	markdown.Section
}

// Results are the sections that fit a query.
type Results struct {
	// Sections has the best section first.
	Sections []Result
	// Corrected has the words that are in no page, and the word for which each was taken.
	Corrected map[string]string
	// Partial is set if no section has all words, so that these have only some of them.
	Partial bool
}

// Find returns the sections of ccm docs that fit a query. There are none if no page has any of its words.
func Find(query string) Results { return newIndex().find(query) }

// newIndex returns the index of all pages.
func newIndex() *index {
	ix := &index{stems: make(map[string]string)}
	for _, g := range docs.Groups() {
		for _, name := range g.Pages {
			ix.add(name, cmp.Or(weights[name], weights[g.Title], 1))
		}
	}
	ix.words = slices.Sorted(maps.Keys(ix.stems))
	for _, group := range synonyms {
		ix.words = append(ix.words, split(strings.Join(group, " "))...)
	}
	slices.Sort(ix.words)
	for _, w := range ix.words {
		ix.known = append(ix.known, english.Stem(w, true))
	}
	slices.Sort(ix.known)
	return ix
}

// find returns the sections that fit a query.
func (ix *index) find(query string) Results {
	found := Results{Corrected: make(map[string]string)}
	terms := ix.terms(ix.corrected(query, found.Corrected))
	scores, fits := make([]float64, len(ix.sections)), make([]int, len(ix.sections))
	for _, t := range terms {
		for i, score := range ix.scores(t) {
			scores[i] += score
			if score > 0 {
				fits[i]++
			}
		}
	}
	most := slices.Max(fits)
	var best []int
	for i := range ix.sections {
		if most > 0 && fits[i] == most {
			best = append(best, i)
		}
	}
	slices.SortStableFunc(best, func(a, b int) int { return cmp.Compare(scores[b], scores[a]) })
	for _, i := range best {
		found.Sections = append(found.Sections, ix.sections[i].Result)
	}
	found.Partial = most < len(terms)
	return found
}

// weights lists groups and pages that are just what most people look for, or seldom.
var weights = map[string]float64{"Recipes": 1.3, "stdlib": 0.7, "reference/lua": 0.7, "Coming from": 0.6, "Internals": 0.4}

// An index has the words of all sections.
type index struct {
	sections []section
	stems    map[string]string // of all words that were seen, also in queries
	// words are those of the pages and of the synonyms, and known their stems, both in order.
	words, known []string
}

// A section has the words of a section.
type section struct {
	Result
	weight float64
	// title is the title of the page, with its name, and heading that of the section: of the first section, the title.
	title, heading, body text
	// answers has words of other tools that the section answers.
	answers text
	first   bool
}

// A text is the words of a text, and their stems, with a blank before and after each.
type text struct {
	words, stems string
	// length is the number of words that say something.
	length int
}

// add adds the sections of a page.
func (ix *index) add(page string, weight float64) {
	var title text
	for i, s := range markdown.Parse(docs.Text(page)).Sections() {
		x := section{Result: Result{page, s}, weight: weight, heading: ix.text(s.Text), body: ix.text(s.Body), first: i == 0}
		x.answers = ix.text(Answered(page, s))
		if x.first {
			title = x.heading
			name := ix.text(path.Base(page))
			title.words, title.stems = title.words+name.words, title.stems+name.stems
			x.heading = title
		}
		x.title = title
		if !x.first || !strings.HasPrefix(page, "recipes/") { // which begin with no answer
			ix.sections = append(ix.sections, x)
		}
	}
}

// text returns the words of a text.
func (ix *index) text(of string) text {
	words := split(of)
	stems := make([]string, len(words))
	t := text{}
	for i, w := range words {
		stem, ok := ix.stems[w]
		if !ok {
			stem = english.Stem(w, true)
			ix.stems[w] = stem
		}
		stems[i] = stem
		if !fillers[w] {
			t.length++
		}
	}
	t.words, t.stems = " "+strings.Join(words, " ")+" ", " "+strings.Join(stems, " ")+" "
	return t
}

// split returns the words of a text in lower case.
func split(text string) []string {
	return strings.FieldsFunc(strings.ToLower(text), func(r rune) bool {
		return !unicode.IsLetter(r) && !unicode.IsDigit(r) && r != '_'
	})
}

// fillers are words that say nothing about the matter of a query or a heading.
var fillers = setOf("a an the how do does did i to in on of for with and or is are it its my me can what which when if from by be per " +
	"at as use using get there type ccm recipes something this")

func setOf(text string) map[string]bool {
	set := make(map[string]bool)
	for _, w := range split(text) {
		set[w] = true
	}
	return set
}

// corrected returns the words of a query without fillers, misspelled ones replaced and noted.
func (ix *index) corrected(query string, corrected map[string]string) (words []string) {
	for _, w := range split(query) {
		stem := english.Stem(w, true)
		if _, ok := slices.BinarySearch(ix.known, stem); !ok {
			if near := cmp.Or(diag.Nearest(w, ix.words), diag.Nearest(stem, ix.words)); near != "" {
				corrected[w] = near
				w = near
			}
		}
		words = append(words, w)
	}
	return withoutFillers(words)
}

// withoutFillers returns the words that are no fillers, or all of them if all are.
func withoutFillers(words []string) []string {
	if rest := slices.DeleteFunc(slices.Clone(words), func(w string) bool { return fillers[w] }); len(rest) > 0 {
		return rest
	}
	return words
}

// A term is a word or a phrase of a query, and what means the same. The first is that of the query.
type term []text

// terms returns the terms of a query. Of the phrases in the table of synonyms the longest one counts.
func (ix *index) terms(words []string) (terms []term) {
	for len(words) > 0 {
		t, length := term{ix.text(words[0])}, 1
		for _, group := range synonyms {
			for i, phrase := range group {
				p := withoutFillers(split(phrase))
				if len(p) < length || len(p) > len(words) || ix.stemsOf(p) != ix.stemsOf(words[:len(p)]) {
					continue
				}
				if len(p) > length {
					t, length = term{ix.text(phrase)}, len(p)
				}
				for _, other := range slices.Delete(slices.Clone(group), i, i+1) {
					t = append(t, ix.text(other))
				}
			}
		}
		terms, words = append(terms, t), words[length:]
	}
	return terms
}

func (ix *index) stemsOf(words []string) string { return ix.text(strings.Join(words, " ")).stems }

// scores returns how well each section fits a term, 0 if it does not. What is rare counts more, a heading more than the
// text, the very word more than another form, and that more than a synonym.
func (ix *index) scores(t term) []float64 {
	best := make([]float64, len(ix.sections))
	most := math.Inf(1) // a synonym counts no more than half of the word itself, however rare it is
	for i, phrase := range t {
		scores, having := make([]float64, len(ix.sections)), 0
		for j, s := range ix.sections {
			if scores[j] = s.score(phrase); scores[j] > 0 {
				having++
			}
		}
		rarity := math.Log(1 + float64(len(ix.sections))/float64(1+having))
		if i > 0 {
			rarity = min(rarity, most) / 2
		} else {
			most = rarity
		}
		for j, s := range ix.sections {
			best[j] = max(best[j], scores[j]*rarity*s.weight)
		}
	}
	return best
}

func (s *section) score(phrase text) float64 {
	times := float64(strings.Count(s.body.stems, phrase.stems))
	score := times / (times + 2)
	if strings.Contains(s.answers.words, phrase.words) {
		score += 12 // more than any heading
	}
	if strings.Contains(s.heading.stems, phrase.stems) {
		part := 3 + 6*float64(phrase.length)/float64(max(1, s.heading.length))
		if !strings.Contains(s.heading.words, phrase.words) {
			part *= 0.6
		}
		if s.first {
			part *= 1.3
		}
		score += part
	} else if strings.Contains(s.title.stems, phrase.stems) {
		score++
	}
	return score
}
