package studio

import "encoding/json"

// The requests, answers and events of the interface below /api/, in JSON; requests.go, answers.go and streamevents.go
// have the others. Offsets in texts are in units of UTF-16, as in JavaScript; lines and columns count from 1, columns
// in units of UTF-16 too.

// A Resource is one declaration of the open file.
type Resource struct {
	// Key names the resource in edits of this revision: its ID, followed by ~2 and so on if an earlier one has the
	// same ID.
	Key  string `json:"key"`
	ID   string `json:"id"` // type#name
	Type string `json:"type"`
	Name string `json:"name"`
	File string `json:"file"` // the file with the declaration; only resources of the open file can be edited
	Line int    `json:"line"`
	// Group is the index of the resource's item in ccm.resources, 0 in a script.
	Group int `json:"group"`
	// Props are the properties in the order of the text. A property with an expression has its text, and is also in
	// Expressions.
	Props       json.RawMessage `json:"props"`
	Expressions []Expression    `json:"expressions,omitempty"`
	// Form is how much a form can edit: literal is all, partly is all but some expressions, none is nothing, so
	// only the text can be edited (a loop, a function, an alias).
	Form string `json:"form"`
	// Reason is a sentence that explains why a form cannot edit all of it.
	Reason string `json:"why,omitempty"`
	// Results are the IDs of the resources that the declaration makes on this machine, if they are not just ID.
	Results []string `json:"results,omitempty"`
	// Shared is the number of other resources that an edit of this one changes too, because of an alias or a list of
	// names.
	Shared int `json:"shared,omitempty"`
	// Skip is the reason why the resource is skipped on this machine (if, unless), or "".
	Skip string `json:"skip,omitempty"`
}

// An Expression is a property whose value is not literal.
type Expression struct {
	Property string `json:"property"`
	// Text is the Lua expression, or the text with ${ } or {{ }} in a manifest.
	Text string `json:"text"`
	// Value is the value on this machine, null if it could not be evaluated.
	Value json.RawMessage `json:"value,omitempty"`
}

// A Mistake is a message about the text, as the command line has it.
type Mistake struct {
	File string `json:"file"` // relative to the directory; "" if it is about none
	Line int    `json:"line"` // 0 if unknown
	Col  int    `json:"col"`  // 0 for the whole line
	Len  int    `json:"len"`  // 0 if unknown
	// Resource is the key of the resource and Field the property that it is about, or "".
	Resource string `json:"resource,omitempty"`
	Field    string `json:"field,omitempty"`
	Message  string `json:"message"`
	Hint     string `json:"hint,omitempty"`
	Severity string `json:"severity"` // error or warning
	Notes    []Note `json:"notes,omitempty"`
}

// A Note is a second position that belongs to a mistake.
type Note struct {
	File string `json:"file"`
	Line int    `json:"line"`
	Text string `json:"text"`
}

// A Splice replaces the range [From, To) of a text.
type Splice struct {
	From int    `json:"from"`
	To   int    `json:"to"`
	Text string `json:"text"`
}

// A State is the state of an open file. It answers GET /api/state and /api/data, and POST /api/edit, text, undo,
// redo, save, new, import and convert.
type State struct {
	Rev      int    `json:"rev"`
	File     string `json:"file"`
	Language string `json:"language"` // yaml, lua, json, toml or text
	// Kind is manifest, script, module, data, spec, template or other.
	Kind string `json:"kind"`
	// Text is the whole text. Instead, Splices may lead to it from the text of revision Base: their offsets are those
	// of that text, and they are sorted and do not overlap (changes of CodeMirror). Neither is set if the text has
	// not changed, or if the page has typed it itself.
	Text    *string  `json:"text,omitempty"`
	Base    int      `json:"base,omitempty"`
	Splices []Splice `json:"splices,omitempty"`
	// Serial counts the states of a file. A page sends the serial of its last state with each request (Have), and
	// gets only the differences from it, if the server still has that state.
	Serial int `json:"serial"`
	// Derived is the text in the other language, null if there is none.
	Derived *DerivedText `json:"derived,omitempty"`
	// Resources is null if Delta has the differences, or if the text cannot be parsed; then the page keeps its
	// resources.
	Resources []Resource `json:"resources"`
	Delta     *Delta     `json:"delta,omitempty"`
	Mistakes  []Mistake  `json:"mistakes"`
	// Checked is set if mistakes, results and values are those of this revision. If it is false, they follow in a
	// state event, or never if the directory is not trusted.
	Checked bool `json:"checked"`
	Saved   bool `json:"saved"` // the file on the disk has this text
	// Disk is the state of the file on the disk since it was read: same, changed or gone.
	Disk string `json:"disk"`
	Undo int    `json:"undo"` // number of steps
	Redo int    `json:"redo"`
	// Client is the page that requested the change, by the name that the page chose for itself.
	Client string `json:"client,omitempty"`
	// Selection is the key of the resource that the edit made or changed, or "".
	Selection string `json:"selected,omitempty"`
	// Data is the content of a data file.
	Data json.RawMessage `json:"data,omitempty"`
	// Timing has the duration of parts of the answer, in microseconds.
	Timing map[string]int64 `json:"timing,omitempty"`
}

// A Delta has the differences between the resources of a state and those of an earlier one. A part that is missing
// has not changed.
type Delta struct {
	Keys    []string   `json:"keys,omitempty"`    // of all resources, in order
	Lines   []int      `json:"lines,omitempty"`   // of all resources
	Groups  []int      `json:"groups,omitempty"`  // of all resources
	Changes []Resource `json:"changed,omitempty"` // new resources, and those that differ in more than Line and Group
}

// DerivedText is the text of a file in the other language.
type DerivedText struct {
	Language string `json:"language"`
	// Text is the whole text. Instead, Splices may lead to it from the text of the earlier state.
	Text    string   `json:"text"`
	Splices []Splice `json:"splices"`
	// Current is set if it is derived from this revision. While the file has a mistake, the last text stays.
	Current bool `json:"current"`
	// Editable is set if the text can be edited (POST /api/text with derived).
	Editable bool `json:"editable"`
	// Reason is why there is no text, or why it is not current.
	Reason string `json:"why,omitempty"`
}

// A Failure is the body of every answer with a status of 400 and above.
type Failure struct {
	Error string `json:"error"`
	Hint  string `json:"hint,omitempty"`
	// Code is a word for programs: stale, shape, shared, path, conflict, untrusted, busy, limit, nothing or convert;
	// "" for other failures.
	Code string `json:"code,omitempty"`
	// Line is the line to edit as text instead (shape, shared), 0 for none.
	Line int `json:"line,omitempty"`
	// State is the present state of the file (stale).
	State *State `json:"state,omitempty"`
	// Conflict has the texts of a file that has changed on the disk (conflict).
	Conflict *Conflict `json:"conflict,omitempty"`
	// Conflicts are the lines of the derived text that have no counterpart in the file (convert).
	Conflicts []int `json:"marked,omitempty"`
}

// A Conflict has three versions of a file that somebody else has changed too.
type Conflict struct {
	Base     string `json:"base"`   // when it was read
	PageText string `json:"mine"`   // in the page
	DiskText string `json:"theirs"` // on the disk; "" if the file is gone
	Gone     bool   `json:"gone,omitempty"`
	// Digest is the digest of DiskText, which Save.DiskDigest returns.
	Digest string `json:"digest"`
	// Chunks is the three-way merge of the versions.
	Chunks []Chunk `json:"merged"`
	// Conflicts is the number of chunks with a conflict.
	Conflicts int `json:"conflicts"`
}

// A Chunk is a part of a three-way merge. In a conflict Text is "", and the three versions are set.
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
//	state     State: another page has edited, or a late check has ended
//	disk      DiskEvent: a file was changed outside studio
//	files     {}: the list of files has changed
//	plan      PlanEvent       plan-end  PlanEnd
//	test-end  TestEnd
//	trust     Session
//	bye       {}: studio ends
