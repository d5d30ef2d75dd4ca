package studio

import (
	"encoding/json"

	"github.com/luaccm/ccm/runtime/markup"
)

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
	// Why says in a sentence what keeps a form from editing it, if it is none.
	Why string `json:"why,omitempty"`
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
	Derived *Derived `json:"derived,omitempty"`
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
	// Selected is the key of what the edit made or changed, if it was about a resource.
	Selected string `json:"selected,omitempty"`
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
	Changed []Resource `json:"changed,omitempty"` // the new ones, and those that changed besides Line and Group
}

// A Derived is the text of a file in the other language.
type Derived struct {
	Language string `json:"language"`
	// Text is the whole text, unless Splices lead to it from that of the earlier state.
	Text    string   `json:"text"`
	Splices []Splice `json:"splices"`
	// Current is whether it is of this revision; while there is a mistake, it stays as it was.
	Current bool `json:"current"`
	// Editable is whether one may type into it (text with derived).
	Editable bool `json:"editable"`
	// Why says why there is none, or why it is not current.
	Why string `json:"why,omitempty"`
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
	// Marked are lines of the derived text that have no counterpart (convert).
	Marked []int `json:"marked,omitempty"`
}

// A Conflict is three texts of a file that was changed by somebody else as well.
type Conflict struct {
	Base   string `json:"base"`   // as it was read
	Mine   string `json:"mine"`   // as it is in the page
	Theirs string `json:"theirs"` // as it is on the disk; empty if it is gone
	Gone   bool   `json:"gone,omitempty"`
	// Digest names Theirs; save sends it back as theirs.
	Digest string `json:"digest"`
	// Merged is the text with the changes of both, as chunks.
	Merged []Chunk `json:"merged"`
	// Conflicts counts the chunks in which both changed the same lines.
	Conflicts int `json:"conflicts"`
}

// A Chunk is some lines of a three-way merge. Of one that both changed, Text is empty and
// the three others are there.
type Chunk struct {
	Text     string `json:"text,omitempty"`
	Conflict bool   `json:"conflict,omitempty"`
	Base     string `json:"base,omitempty"`
	Mine     string `json:"mine,omitempty"`
	Theirs   string `json:"theirs,omitempty"`
}

// A Session is what the page is told first. GET /api/session.
type Session struct {
	Version   string `json:"version"`
	Directory string `json:"directory"` // as a person writes it
	File      string `json:"file"`      // that was named, or ""
	Trusted   bool   `json:"trusted"`
	// Why says why the directory is not trusted yet, in sentences.
	Why     []string `json:"why,omitempty"`
	Root    bool     `json:"root"` // studio runs as root
	User    string   `json:"user"`
	Host    string   `json:"host"`
	Command string   `json:"command"` // that applies the open file, to copy: ccm run FILE
}

// A Types is the palette and what forms are made of. GET /api/types.
type Types struct {
	// Defs are the JSON Schemas of all types by name, with x-ccm at each property.
	Defs map[string]json.RawMessage `json:"$defs"`
	// Groups are the types as the palette shows them.
	Groups []TypeGroup `json:"groups"`
	// Mistakes are about modules of the site that could not be read.
	Mistakes []Mistake `json:"mistakes"`
}

// A TypeGroup is a part of the palette.
type TypeGroup struct {
	Title string    `json:"title"` // Built in, Standard library, Modules of this site
	Types []TypeRow `json:"types"`
}

// A TypeRow is one type of the palette.
type TypeRow struct {
	Name  string `json:"name"`
	Short string `json:"short"` // one sentence
	// Module is what a script or manifest has to require first, or empty.
	Module string `json:"module,omitempty"`
	// Name of the property that names the resource, and what an example calls it.
	NameProperty string `json:"name_property"`
	Example      string `json:"example,omitempty"`
	Hue          int    `json:"hue"` // the colour of the type, in degrees of hsl()
	// New are the properties that a new resource of the type begins with.
	New json.RawMessage `json:"new,omitempty"`
}

// Files is what lies in the directory. GET /api/files.
type Files struct {
	Directory string `json:"directory"`
	Files     []File `json:"files"` // in order of their names
	// Cut is whether there are more than are shown.
	Cut bool `json:"cut,omitempty"`
}

// A File is one entry of the directory.
type File struct {
	Name string `json:"name"` // relative, with slashes
	Kind string `json:"kind"` // manifest, script, module, data, spec, template, other, directory, link
	Size int64  `json:"size"`
	// Target is where a link leads, which is not followed.
	Target string `json:"target,omitempty"`
	Open   bool   `json:"open,omitempty"`   // it has a session
	Edited bool   `json:"edited,omitempty"` // with changes that are not saved
}

// An Edit changes a file by one operation. POST /api/edit, answered by a State.
//
//	set     {resource, property, value | expression} or {path, value}
//	unset   {resource, property} or {path}
//	add     {type, name, props, at}: a new resource before the one with the key at; last without
//	remove  {resources}
//	move    {resources, at}: before the one with the key at; to the end without
//	rename  {resource, name} or {path, name}
//	double  {resources}: copies behind them with new names
//	paste   {text, at}: declarations in the language of the file
//	insert  {path, index, value}: an item of a list (data)
//	reorder {path, index, to}: an item of a list (data)
//	split   {resource}: takes a name out of a list of names, an alias out of its anchor, or a
//	        resource out of its group
type Edit struct {
	File string `json:"file"`
	Rev  int    `json:"rev"`
	// Have is the serial of the last state that the page took, 0 for none.
	Have       int             `json:"have,omitempty"`
	Op         string          `json:"op"`
	Resource   string          `json:"resource,omitempty"`
	Resources  []string        `json:"resources,omitempty"`
	Property   string          `json:"property,omitempty"`
	Path       []any           `json:"path,omitempty"`
	Value      json.RawMessage `json:"value,omitempty"`
	Expression string          `json:"expression,omitempty"` // Lua, or a text with ${ } in a manifest
	Type       string          `json:"type,omitempty"`
	Name       string          `json:"name,omitempty"`
	Props      json.RawMessage `json:"props,omitempty"`
	At         string          `json:"at,omitempty"`
	Index      int             `json:"index,omitempty"`
	To         int             `json:"to,omitempty"`
	Text       string          `json:"text,omitempty"`
	Client     string          `json:"client,omitempty"` // any word of the page for itself
}

// A TextEdit is what was typed. POST /api/text, answered by a State without splices of its
// own: the page has them already. With Derived it is about the derived pane, and the State has
// the splices of the file.
type TextEdit struct {
	File string `json:"file"`
	Rev  int    `json:"rev"`
	// Have is the serial of the last state that the page took, 0 for none.
	Have    int      `json:"have,omitempty"`
	Splices []Splice `json:"splices,omitempty"`
	Text    *string  `json:"text,omitempty"` // the whole, instead of splices
	Derived bool     `json:"derived,omitempty"`
	// Joined adds it to the last step of undo, as typing goes on.
	Joined bool   `json:"joined,omitempty"`
	Client string `json:"client,omitempty"`
}

// A Step names a file for undo and redo. POST /api/undo, /api/redo, answered by a State.
type Step struct {
	File string `json:"file"`
	Rev  int    `json:"rev"`
	// Have is the serial of the last state that the page took, 0 for none.
	Have   int    `json:"have,omitempty"`
	Client string `json:"client,omitempty"`
}

// A Save writes a file. POST /api/save, answered by a State, or by 409 with a Conflict.
type Save struct {
	File string `json:"file"`
	Rev  int    `json:"rev"`
	// Have is the serial of the last state that the page took, 0 for none.
	Have int `json:"have,omitempty"`
	// OnConflict is ask (the default), mine (write all the same) or theirs (take what is on the
	// disk as a step that can be undone). Theirs is the digest of what the person was shown: if
	// it changed again, that is a conflict again. A merged text is sent by text, then saved with mine.
	OnConflict string `json:"onConflict,omitempty"`
	Theirs     string `json:"theirs,omitempty"`
	Client     string `json:"client,omitempty"`
}

// A New makes a file in memory; save writes it. POST /api/new, answered by a State.
type New struct {
	File string `json:"file"`
	// Text is what it begins with; empty for the least that its language and kind need.
	Text string `json:"text,omitempty"`
}

// A Trust says that a directory may be evaluated. POST /api/trust, answered by a Session.
type Trust struct {
	Directory string `json:"directory"` // must be that of the Session
}

// A PlanRequest starts a plan. POST /api/plan, answered by 202 and a Job. DELETE is not
// allowed to pages; POST /api/plan/cancel {job} ends it.
type PlanRequest struct {
	File string `json:"file"`
	Rev  int    `json:"rev"`
	// Profile is the name of facts of another machine; empty for those of this one.
	Profile string   `json:"profile,omitempty"`
	Targets []string `json:"targets,omitempty"`
}

// A Job is a child process under way.
type Job struct {
	Job string `json:"job"`
	// Command is what a person would type for the same.
	Command string `json:"command"`
	// Unsaved are other files that have changes that the plan does not see.
	Unsaved []string `json:"unsaved,omitempty"`
}

// A Cancel ends a job. POST /api/plan/cancel.
type Cancel struct {
	Job string `json:"job"`
}

// A PlanEvent is what a plan says of one resource. Event of the stream: plan.
type PlanEvent struct {
	Job   string        `json:"job"`
	Event ResourceEvent `json:"event"`
	// Bar is the share of each outcome so far.
	Bar *markup.Element `json:"bar"`
}

// A ResourceEvent is what became of a resource, or would.
type ResourceEvent struct {
	Type    string `json:"type"`
	Name    string `json:"name"`
	Outcome string `json:"outcome"`
	Story   string `json:"story"` // in one line
	// Row is all of it, as reports show it.
	Row *markup.Element `json:"row"`
}

// A PlanEnd ends a job. Event of the stream: plan-end.
type PlanEnd struct {
	Job string `json:"job"`
	// Status is done, failed, cancelled or timeout.
	Status   string `json:"status"`
	Exit     int    `json:"exit"`
	Messages string `json:"messages,omitempty"` // what the command said on stderr, without terminal codes
	Duration int64  `json:"duration"`           // milliseconds
	// Cut is whether events were left out, as there were too many.
	Cut bool `json:"cut,omitempty"`
}

// A Graph is the order as a drawing. GET /api/graph?file=&stack=3&job=.
type Graph struct {
	Rev    int         `json:"rev"`
	Width  float64     `json:"width"` // in pixels
	Height float64     `json:"height"`
	Boxes  []GraphBox  `json:"boxes"`
	Lines  []GraphLine `json:"lines"`
	// Drawing is the picture. Its last elements are the lines and the boxes, in their order.
	Drawing *markup.Element `json:"drawing"`
}

// A GraphBox is one resource, or a stack of several.
type GraphBox struct {
	X       float64  `json:"x"` // of the upper left corner
	Y       float64  `json:"y"`
	Label   string   `json:"label"`
	Type    string   `json:"type"`
	Outcome string   `json:"outcome,omitempty"` // of the plan job that was named
	Members []string `json:"members"`           // IDs
}

// A GraphLine leads from a box to one that comes after it.
type GraphLine struct {
	From int `json:"from"`
	To   int `json:"to"`
}

// A Completion is what may be meant. GET /api/complete?what=&prefix=&file=&type=&property=.
type Completion struct {
	Items []CompletionItem `json:"items"` // 50 at most
	// Cut is whether there are more.
	Cut bool `json:"cut,omitempty"`
}

// A CompletionItem is one of them.
type CompletionItem struct {
	Text   string `json:"text"`
	Detail string `json:"detail,omitempty"`
}

// FactsAnswer are the facts of this machine or of a profile. GET /api/facts?profile=.
type FactsAnswer struct {
	Profile  string          `json:"profile"`  // "" for this machine
	Profiles []string        `json:"profiles"` // that there are
	Facts    json.RawMessage `json:"facts"`
}

// A Profile keeps facts of another machine below DIR/facts. POST /api/facts, answered by FactsAnswer.
type Profile struct {
	Profile string          `json:"profile"`
	Facts   json.RawMessage `json:"facts,omitempty"` // null removes it
}

// An Import writes down what stands on this machine. POST /api/import, answered by a State.
type Import struct {
	File string `json:"file"`
	Rev  int    `json:"rev"`
	// Have is the serial of the last state that the page took, 0 for none.
	Have  int      `json:"have,omitempty"`
	Type  string   `json:"type"`
	Names []string `json:"names"`
	At    string   `json:"at,omitempty"`
	// Preview answers with Imported instead, and changes nothing.
	Preview bool   `json:"preview,omitempty"`
	Client  string `json:"client,omitempty"`
}

// Imported is what an import would add.
type Imported struct {
	Text     string   `json:"text"`
	Messages []string `json:"messages,omitempty"`
}

// A Convert makes a new file of the open one in the other language, in memory. POST
// /api/convert, answered by the State of the new file.
type Convert struct {
	File string `json:"file"`
	To   string `json:"to,omitempty"` // the name of the new file; "" derives it
}

// A Test runs specs. POST /api/test, answered by a Job; its events are test and test-end.
type Test struct {
	Spec string `json:"spec,omitempty"` // a file or directory; "" for all
}

// A TestEnd ends the job of a test. Event of the stream: test-end.
type TestEnd struct {
	Job      string          `json:"job"`
	Status   string          `json:"status"`
	Exit     int             `json:"exit"`
	Results  json.RawMessage `json:"results,omitempty"` // as ccm test --output json prints them, a list
	Messages string          `json:"messages,omitempty"`
	Duration int64           `json:"duration"`
}

// Runs is the history of this machine. GET /api/runs.
type Runs struct {
	Runs  []PastRun `json:"runs"` // the latest first
	Error string    `json:"error,omitempty"`
}

// A PastRun is one run of this machine.
type PastRun struct {
	Run json.RawMessage `json:"run"` // as ccm history --output json lists it
	// Parts are the bar of its outcomes and the counts in words; none of a run that was killed.
	Parts []*markup.Element `json:"parts"`
}

// A RunAnswer is one run. GET /api/runs/{id}.
type RunAnswer struct {
	ID string `json:"id"`
	PastRun
	Events []ResourceEvent `json:"events"`
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

// A DiskEvent says what became of a file on the disk.
type DiskEvent struct {
	File string `json:"file"`
	Disk string `json:"disk"`
}
