package studio

import "encoding/json"

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
	// disk as a step that can be undone). DiskDigest is the digest of what the person was shown: if
	// it changed again, that is a conflict again. A merged text is sent by text, then saved with mine.
	OnConflict string `json:"onConflict,omitempty"`
	DiskDigest string `json:"theirs,omitempty"`
	Client     string `json:"client,omitempty"`
}

// A NewRequest makes a file in memory; save writes it. POST /api/new, answered by a State.
type NewRequest struct {
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

// A Cancel ends a job. POST /api/plan/cancel.
type Cancel struct {
	Job string `json:"job"`
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
	// Preview answers with ImportResult instead, and changes nothing.
	Preview bool   `json:"preview,omitempty"`
	Client  string `json:"client,omitempty"`
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
