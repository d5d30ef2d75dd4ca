package studio

import "encoding/json"

// The requests and answers of the interface below /api/, as JSON. `schema.go` prints them
// for who writes the page. Offsets in texts are in UTF-16 units, as scripts of a page count;
// lines and columns count from 1, columns in UTF-16 units too.

// A Resource is one declaration of the open file.
type Resource struct {
	// Key names it in edits of this revision: its ID, with ~2 and so on behind it where
	// several have the same.
	Key  string `json:"key"`
	ID   string `json:"id"` // type#name
	Type string `json:"type"`
	Name string `json:"name"`
	File string `json:"file"` // where it is declared; an edit must be one of this file
	Line int    `json:"line"`
	// Group is which item of ccm.resources it is in; in a script 0.
	Group int `json:"group"`
	// Props are the properties as they are written, in their order. What is an expression has
	// its text, and stands in Expressions.
	Props       json.RawMessage `json:"props"`
	Expressions []Expression    `json:"expressions,omitempty"`
	// Form says what a form can edit: literal is all, partly all but the expressions that
	// cannot be written, none only the text (a loop, a function, an alias).
	Form string `json:"form"`
	// Reason says in a sentence what keeps a form from editing it, if it is none.
	Reason string `json:"why,omitempty"`
	// Results are the IDs of what came of it here, if that is not ID alone.
	Results []string `json:"results,omitempty"`
	// Shared counts the other resources that an edit of it changes too, because of an alias
	// or a list of names.
	Shared int `json:"shared,omitempty"`
	// Skip is why it does not count here (if, unless), or empty.
	Skip string `json:"skip,omitempty"`
}

// An Expression is a property that is not literal.
type Expression struct {
	Property string `json:"property"`
	// Text is the Lua expression, or the manifest's text with its ${ } and {{ }}.
	Text string `json:"text"`
	// Value is what it is here, if it could be evaluated; null otherwise.
	Value json.RawMessage `json:"value,omitempty"`
}

// A Mistake is what ccm says of the text: the words are those of the command line.
type Mistake struct {
	File string `json:"file"` // relative to the directory; "" for none
	Line int    `json:"line"` // 0 for none
	Col  int    `json:"col"`  // 0 for the whole line
	Len  int    `json:"len"`  // 0 if it is not known
	// Resource is the key of what it is about, or empty; Field its property.
	Resource string `json:"resource,omitempty"`
	Field    string `json:"field,omitempty"`
	Message  string `json:"message"`
	Hint     string `json:"hint,omitempty"`
	Severity string `json:"severity"` // error or warning
	Notes    []Note `json:"notes,omitempty"`
}

// A Note is a second place that belongs to a mistake.
type Note struct {
	File string `json:"file"`
	Line int    `json:"line"`
	Text string `json:"text"`
}

// A Splice replaces [From, To) of a text.
type Splice struct {
	From int    `json:"from"`
	To   int    `json:"to"`
	Text string `json:"text"`
}

// A State is an open file. It answers state, edit, text, undo, redo, save and data.
type State struct {
	Rev      int    `json:"rev"`
	File     string `json:"file"`
	Language string `json:"language"` // yaml, lua, json, toml or text
	// Kind is what the file is for: manifest, script, module, data, spec, template or other.
	Kind string `json:"kind"`
	// Text is the whole text; or Splices lead from the text of revision Base to it: all have
	// offsets of that text, are in order and do not overlap (changes of CodeMirror). Neither is
	// there if only the rest of the state is new, or if the page has typed it itself.
	Text    *string  `json:"text,omitempty"`
	Base    int      `json:"base,omitempty"`
	Splices []Splice `json:"splices,omitempty"`
	// Serial counts the states of a file. A page names the last one that it took with what it asks
	// for, and is answered with what differs from that one, if the server still knows it.
	Serial int `json:"serial"`
	// Derived is the same in the other language; null if there is none.
	Derived *DerivedText `json:"derived,omitempty"`
	// Resources is null if Delta says how they differ, or if the text cannot be read: they stay.
	Resources []Resource `json:"resources"`
	Delta     *Delta     `json:"delta,omitempty"`
	Mistakes  []Mistake  `json:"mistakes"`
	// Checked is whether mistakes, results and values are of this revision. False: they
	// follow in an event state, or never, as the directory is not trusted.
	Checked bool `json:"checked"`
	Saved   bool `json:"saved"` // the file on the disk is this text
	// Disk is what became of the file since it was read: same, changed or gone.
	Disk string `json:"disk"`
	Undo int    `json:"undo"` // how many steps there are
	Redo int    `json:"redo"`
	// Client is the page that asked for it, as it named itself; in events a page skips what it
	// asked for itself, unless Checked is new.
	Client string `json:"client,omitempty"`
	// Selection is the key of what the edit made or changed, if it was about a resource.
	Selection string `json:"selected,omitempty"`
	// Data is what a data file holds, for its browser.
	Data json.RawMessage `json:"data,omitempty"`
	// Timing is how long the parts took, in microseconds.
	Timing map[string]int64 `json:"timing,omitempty"`
}

// A Delta is how the resources of a file differ from those of an earlier state. What is absent did
// not change.
type Delta struct {
	Keys    []string   `json:"keys,omitempty"`    // all, in their order
	Lines   []int      `json:"lines,omitempty"`   // of all
	Groups  []int      `json:"groups,omitempty"`  // of all
	Changes []Resource `json:"changed,omitempty"` // the new ones, and those that changed besides Line and Group
}

// DerivedText is the text of a file in the other language.
type DerivedText struct {
	Language string `json:"language"`
	// Text is the whole text, unless Splices lead to it from that of the earlier state.
	Text    string   `json:"text"`
	Splices []Splice `json:"splices"`
	// Current is whether it is of this revision; while there is a mistake, it stays as it was.
	Current bool `json:"current"`
	// Editable is whether one may type into it (text with derived).
	Editable bool `json:"editable"`
	// Reason says why there is none, or why it is not current.
	Reason string `json:"why,omitempty"`
}

// A Failure is what went wrong: the body of all answers of 400 and above.
type Failure struct {
	Error string `json:"error"`
	Hint  string `json:"hint,omitempty"`
	// Code is a word for programs: stale, shape, shared, path, conflict, untrusted, busy,
	// gone, locked, limit, nothing, convert. Empty for all others.
	Code string `json:"code,omitempty"`
	// Line is the place in the text to jump to instead (shape, shared); 0 for none.
	Line int `json:"line,omitempty"`
	// State is what the file is now (stale).
	State *State `json:"state,omitempty"`
	// Conflict is there if the file changed on the disk (conflict).
	Conflict *Conflict `json:"conflict,omitempty"`
	// Conflicts are lines of the derived text that have no counterpart (convert).
	Conflicts []int `json:"marked,omitempty"`
}

// A Conflict is three texts of a file that was changed by somebody else as well.
type Conflict struct {
	Base     string `json:"base"`   // as it was read
	PageText string `json:"mine"`   // as it is in the page
	DiskText string `json:"theirs"` // as it is on the disk; empty if it is gone
	Gone     bool   `json:"gone,omitempty"`
	// Digest names Theirs; save sends it back as theirs.
	Digest string `json:"digest"`
	// Chunks is the text with the changes of both, as chunks.
	Chunks []Chunk `json:"merged"`
	// Conflicts counts the chunks in which both changed the same lines.
	Conflicts int `json:"conflicts"`
}

// A Chunk is some lines of a three-way merge. Of one that both changed, Text is empty and
// the three others are there.
type Chunk struct {
	Text     string `json:"text,omitempty"`
	Conflict bool   `json:"conflict,omitempty"`
	Base     string `json:"base,omitempty"`
	PageText string `json:"mine,omitempty"`
	DiskText string `json:"theirs,omitempty"`
}

// Events of the stream GET /api/events (text/event-stream; event: NAME, data: JSON):
//
//	hello     Session: first, and after each connection
//	state     State with Text or Splices: somebody else edited, or what was late is there
//	disk      DiskEvent: a file was changed outside
//	files     {}: the list of files changed
//	plan      PlanEvent       plan-end  PlanEnd
//	test-end  TestEnd
//	trust     Session
//	bye       {}: studio ends
