package studio

import "encoding/json"

// An Edit is one operation on a file. POST /api/edit, answered by a State.
//
//	set     {resource, property, value | expression} or {path, value}
//	unset   {resource, property} or {path}
//	add     {type, name, props, at}: a new resource before the one with the key at, by default last
//	remove  {resources}
//	move    {resources, at}: before the one with the key at, by default to the end
//	rename  {resource, name} or {path, name}
//	double  {resources}: copies behind them with new names
//	paste   {text, at}: declarations in the language of the file
//	insert  {path, index, value}: a new item of a list (data)
//	reorder {path, index, to}: moves an item of a list (data)
//	split   {resource}: takes a name out of a list of names, an alias out of its anchor, or a
//	        resource out of its group
type Edit struct {
	File string `json:"file"`
	Rev  int    `json:"rev"`
	// Have is the serial of the last state that the page has, 0 for none.
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
	Client     string          `json:"client,omitempty"` // name of the page, chosen by itself
}

// A TextEdit is an edit of the text. POST /api/text, answered by a State without splices, because the page has them.
// With Derived it edits the text in the other language, and the State has the splices of the file.
type TextEdit struct {
	File string `json:"file"`
	Rev  int    `json:"rev"`
	// Have is the serial of the last state that the page has, 0 for none.
	Have    int      `json:"have,omitempty"`
	Splices []Splice `json:"splices,omitempty"`
	Text    *string  `json:"text,omitempty"` // the whole text instead of splices
	Derived bool     `json:"derived,omitempty"`
	// Joined adds the edit to the last step of undo, because the person goes on typing.
	Joined bool   `json:"joined,omitempty"`
	Client string `json:"client,omitempty"`
}

// A Step is an undo or a redo. POST /api/undo, /api/redo, answered by a State.
type Step struct {
	File string `json:"file"`
	Rev  int    `json:"rev"`
	// Have is the serial of the last state that the page has, 0 for none.
	Have   int    `json:"have,omitempty"`
	Client string `json:"client,omitempty"`
}

// A Save writes a file. POST /api/save, answered by a State, or by 409 with a Conflict.
type Save struct {
	File string `json:"file"`
	Rev  int    `json:"rev"`
	// Have is the serial of the last state that the page has, 0 for none.
	Have int `json:"have,omitempty"`
	// OnConflict is what to do if the file has changed on the disk: ask (the default), mine (write anyway) or
	// theirs (take the text on the disk as a step that can be undone). DiskDigest is the Digest of the Conflict that
	// the person decided about: if the file has changed again, the answer is a new Conflict. A merged text is sent by
	// /api/text first, and then saved with mine.
	OnConflict string `json:"onConflict,omitempty"`
	DiskDigest string `json:"theirs,omitempty"`
	Client     string `json:"client,omitempty"`
}

// A NewRequest makes a file in memory; a Save writes it. POST /api/new, answered by a State.
type NewRequest struct {
	File string `json:"file"`
	// Text is the content; "" means the shortest valid text of the file's language and kind.
	Text string `json:"text,omitempty"`
}

// A Trust allows the evaluation of the directory. POST /api/trust, answered by a Session.
type Trust struct {
	Directory string `json:"directory"` // must be that of the Session
}

// A PlanRequest starts a plan. POST /api/plan, answered by 202 and a Job.
type PlanRequest struct {
	File string `json:"file"`
	Rev  int    `json:"rev"`
	// Profile is the name of the facts of another machine; "" means those of this one.
	Profile string   `json:"profile,omitempty"`
	Targets []string `json:"targets,omitempty"`
}

// A Cancel ends a job. POST /api/plan/cancel.
type Cancel struct {
	Job string `json:"job"`
}

// An Import adds resources of this machine to a file. POST /api/import, answered by a State.
type Import struct {
	File string `json:"file"`
	Rev  int    `json:"rev"`
	// Have is the serial of the last state that the page has, 0 for none.
	Have  int      `json:"have,omitempty"`
	Type  string   `json:"type"`
	Names []string `json:"names"`
	At    string   `json:"at,omitempty"`
	// Preview changes nothing, and is answered by an ImportResult.
	Preview bool   `json:"preview,omitempty"`
	Client  string `json:"client,omitempty"`
}

// A Convert makes a new file, in memory, from the open one in the other language. POST /api/convert, answered by the
// State of the new file.
type Convert struct {
	File string `json:"file"`
	To   string `json:"to,omitempty"` // name of the new file; "" derives it from the old one
}

// A Test runs specs. POST /api/test, answered by a Job; a test-end event follows.
type Test struct {
	Spec string `json:"spec,omitempty"` // a file or directory; "" for all
}
