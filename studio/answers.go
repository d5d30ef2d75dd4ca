package studio

import (
	"encoding/json"

	"github.com/luaccm/ccm/runtime/markup"
)

// A Session is the page's first answer. GET /api/session.
type Session struct {
	Version   string `json:"version"`
	Directory string `json:"directory"` // as a person writes it
	File      string `json:"file"`      // given at the start, or ""
	Trusted   bool   `json:"trusted"`
	// Reasons is why the directory is not trusted yet, in sentences.
	Reasons []string `json:"why,omitempty"`
	Root    bool     `json:"root"` // studio runs as root
	User    string   `json:"user"`
	Host    string   `json:"host"`
	Command string   `json:"command"` // command that applies the open file, to copy: ccm run FILE
}

// A Types has the palette and the schemas of forms. GET /api/types.
type Types struct {
	// Defs are the JSON Schemas of all types by name, with x-ccm at each property.
	Defs map[string]json.RawMessage `json:"$defs"`
	// Groups are the types in the order of the palette.
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
	// NameProperty is the property that names the resource, and Example its value in an example.
	NameProperty string `json:"name_property"`
	Example      string `json:"example,omitempty"`
	Hue          int    `json:"hue"` // the color of the type, in degrees of hsl()
	// New are the properties that a new resource of the type begins with.
	New json.RawMessage `json:"new,omitempty"`
}

// Files is the content of the directory. GET /api/files.
type Files struct {
	Directory string `json:"directory"`
	Files     []File `json:"files"` // in order of their names
	// Cut is set if the list is incomplete.
	Cut bool `json:"cut,omitempty"`
}

// A File is one entry of the directory.
type File struct {
	Name string `json:"name"` // relative, with slashes
	Kind string `json:"kind"` // manifest, script, module, data, spec, template, other, directory, link
	Size int64  `json:"size"`
	// Target is the destination of a link; links are not followed.
	Target string `json:"target,omitempty"`
	Open   bool   `json:"open,omitempty"`   // it has a session
	Edited bool   `json:"edited,omitempty"` // with unsaved changes
}

// A Job is a running child process.
type Job struct {
	Job string `json:"job"`
	// Command is the equivalent command line for a person.
	Command string `json:"command"`
	// UnsavedFiles are other files with unsaved changes, which the plan does not see.
	UnsavedFiles []string `json:"unsaved,omitempty"`
}

// A Graph is the order of resources as a drawing. GET /api/graph?file=&stack=3&job=.
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
	Outcome string   `json:"outcome,omitempty"` // in the plan of the given job
	Members []string `json:"members"`           // IDs
}

// A GraphLine leads from a box to a box that comes after it.
type GraphLine struct {
	From int `json:"from"`
	To   int `json:"to"`
}

// A Completion has proposals for a text. GET /api/complete?what=&prefix=&file=&type=&property=.
type Completion struct {
	Items []CompletionItem `json:"items"` // 50 at most
	// Cut is set if there are more.
	Cut bool `json:"cut,omitempty"`
}

// A CompletionItem is one proposal.
type CompletionItem struct {
	Text   string `json:"text"`
	Detail string `json:"detail,omitempty"`
}

// FactsAnswer are the facts of this machine or of a profile. GET /api/facts?profile=.
type FactsAnswer struct {
	Profile  string          `json:"profile"`  // "" for this machine
	Profiles []string        `json:"profiles"` // existing profiles
	Facts    json.RawMessage `json:"facts"`
}

// A Profile has facts of another machine, kept below DIR/facts. POST /api/facts, answered by
// FactsAnswer.
type Profile struct {
	Profile string          `json:"profile"`
	Facts   json.RawMessage `json:"facts,omitempty"` // null removes it
}

// ImportResult is the text that an import would add.
type ImportResult struct {
	Text     string   `json:"text"`
	Messages []string `json:"messages,omitempty"`
}

// Runs is the history of this machine. GET /api/runs.
type Runs struct {
	Runs  []PastRun `json:"runs"` // the latest first
	Error string    `json:"error,omitempty"`
}

// A PastRun is one run of this machine.
type PastRun struct {
	Run json.RawMessage `json:"run"` // as ccm history --output json lists it
	// Parts are the bar of its outcomes and the counts in words; none for a killed run.
	Parts []*markup.Element `json:"parts"`
}

// A RunAnswer is one run. GET /api/runs/{id}.
type RunAnswer struct {
	ID string `json:"id"`
	PastRun
	Events []ResourceEvent `json:"events"`
}
