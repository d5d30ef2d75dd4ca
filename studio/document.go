package studio

import (
	"errors"
	"path"
	"slices"
	"strings"
	"sync"

	"github.com/luaccm/ccm/runtime/textedit/splice"
	"github.com/luaccm/ccm/studio/model"
)

// A document is one open file: its text with the history of edits. The text is the only source of
// truth: list, form and graph are views of it.
type document struct {
	name      string
	directory string // of the site, absolute
	journal   *editJournal

	mu   sync.Mutex
	text string
	rev  int // counts edits since studio began
	// disk is the content of the file when it was last read or written; the digest is empty if
	// there was no file. diskState is its state since then: same, changed or gone.
	disk      fileContent
	diskState string
	undo      []step
	redo      []step

	model    *model.Model // of the text; nil if the text cannot be read
	modelErr error
	read     int // the revision of the model
	checked  *checkResult
	pending  *pendingCheck // the running check, or nil
	serial   int           // of the last state
	states   []pageState   // the last states
}

// A step is one unit of undo: splices of the text before it, and splices of the text after it that
// restore the one before.
type step struct{ redo, undo []splice.Splice }

var errNothing = errors.New("nothing to undo or redo")

// languageOf returns the language of a file, by its name.
func languageOf(name string) string {
	switch strings.ToLower(path.Ext(name)) {
	case ".yaml", ".yml":
		return model.YAML
	case ".lua":
		return model.Lua
	case ".json":
		return "json"
	case ".toml":
		return "toml"
	}
	return "text"
}

// replay applies the entries of a journal.
func (d *document) replay(entries []entry) error {
	for _, e := range entries {
		var err error
		switch {
		case e.Open != nil:
			d.text, d.disk = e.Open.Text, *e.Open
			d.undo, d.redo = nil, nil
		case e.Base != nil:
			d.disk = *e.Base
		case e.Undo:
			_, err = d.back()
		case e.Redo:
			_, err = d.forth()
		case e.SavedDigest != "":
			d.disk = fileContent{d.name, d.text, e.SavedDigest}
		default:
			err = d.change(e.Edit, e.Joined)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// change applies splices, whose offsets are all those of the text before. joined adds them to the
// last step of undo.
func (d *document) change(list []splice.Splice, joined bool) error {
	back, after, err := inverse(d.text, list)
	if err != nil {
		return err
	}
	if n := len(d.undo); joined && n > 0 && len(d.redo) == 0 {
		last := d.undo[n-1]
		before, err := splice.Apply(d.text, last.undo)
		if err != nil {
			return err
		}
		last.redo = difference(before, after)
		if last.undo, _, err = inverse(before, last.redo); err != nil {
			return err
		}
		d.undo[n-1] = last
	} else {
		d.undo = append(d.undo, step{slices.Clone(list), back})
	}
	d.redo = nil
	d.text = after
	d.rev++
	return nil
}

// back undoes the last step, and returns its splices.
func (d *document) back() ([]splice.Splice, error) { return d.move(&d.undo, &d.redo, false) }

// forth redoes a step, and returns its splices.
func (d *document) forth() ([]splice.Splice, error) { return d.move(&d.redo, &d.undo, true) }

func (d *document) move(from, to *[]step, forth bool) ([]splice.Splice, error) {
	n := len(*from)
	if n == 0 {
		return nil, errNothing
	}
	s := (*from)[n-1]
	list := s.undo
	if forth {
		list = s.redo
	}
	after, err := splice.Apply(d.text, list)
	if err != nil {
		return nil, err
	}
	*from, *to = (*from)[:n-1], append(*to, s)
	d.text = after
	d.rev++
	return list, nil
}

// inverse returns the splices that undo a list, and the text after the list.
func inverse(text string, list []splice.Splice) (back []splice.Splice, after string, err error) {
	if after, err = splice.Apply(text, list); err != nil {
		return nil, "", err
	}
	sorted := slices.Clone(list)
	slices.SortStableFunc(sorted, func(a, b splice.Splice) int { return a.From - b.From })
	shift := 0
	for _, s := range sorted {
		from := s.From + shift
		back = append(back, splice.Splice{From: from, To: from + len(s.Text), Text: text[s.From:s.To]})
		shift += len(s.Text) - (s.To - s.From)
	}
	return back, after, nil
}

// difference returns the splice that makes one text of another: all between their common beginning
// and their common end. It does not cut characters.
func difference(from, to string) []splice.Splice {
	if from == to {
		return nil
	}
	head := 0
	for head < len(from) && head < len(to) && from[head] == to[head] {
		head++
	}
	for head > 0 && (head < len(from) && isInside(from[head]) || head < len(to) && isInside(to[head])) {
		head--
	}
	tail := 0
	for tail < len(from)-head && tail < len(to)-head && from[len(from)-1-tail] == to[len(to)-1-tail] {
		tail++
	}
	for tail > 0 && (isInside(from[len(from)-tail]) || isInside(to[len(to)-tail])) {
		tail--
	}
	return []splice.Splice{{From: head, To: len(from) - tail, Text: to[head : len(to)-tail]}}
}

// isInside reports whether a byte is not the first one of a character in UTF-8.
func isInside(b byte) bool { return b&0xc0 == 0x80 }

// saved reports whether the file on the disk is known to have the text.
func (d *document) saved() bool { return d.disk.Digest != "" && d.disk.Text == d.text }
