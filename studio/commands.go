package studio

import (
	"context"
	"encoding/json"
	"errors"
	"io/fs"
	"net/http"
	"os"
	"strings"
	"sync"

	"github.com/luaccm/ccm/runtime/diag"
	"github.com/luaccm/ccm/studio/model"
)

const maxNames = 200

// commands answer requests by running commands of ccm.
type commands struct {
	jobs      *jobs
	workspace *workspace
	hub       *hub
	stateDir  string
	insecure  bool // studio itself was started with --allow-insecure

	mu    sync.Mutex
	plans []*outcomes // results of the last plans
}

// imports answers POST /api/import: the resources that ccm import finds are added to the file as
// one step. Files that are too large for a text are copied below files, as ccm import does.
func (c *commands) imports(ctx context.Context, in Import) (any, error) {
	d, err := c.workspace.document(in.File, false)
	if err != nil {
		return nil, err
	}
	if len(in.Names) == 0 || len(in.Names) > maxNames || in.Type == "" || strings.HasPrefix(in.Type, "-") {
		return nil, refuse(http.StatusBadRequest, "", diag.Expected("a type and its names, 200 at most").Error())
	}
	if err := c.workspace.gate.check(); err != nil {
		return nil, err
	}
	form := "json"
	args := []string{"import", "--state-dir", c.stateDir}
	if in.Preview {
		dir, err := os.MkdirTemp("", "ccm-studio-") // a preview copies no files to the site
		if err != nil {
			return nil, err
		}
		defer os.RemoveAll(dir)
		args = append(args, "--files", dir)
		form = languageOf(d.name)
		if form != model.Lua && form != model.YAML {
			form = model.Lua
		}
		return c.previewImport(ctx, append(args, "--output", form, "--", in.Type), in.Names)
	}
	args = append(args, "--output", form, "--", in.Type)
	lines, end := c.jobs.ask(ctx, nil, append(args, in.Names...)...)
	if len(lines) == 0 {
		return nil, errors.Join(end.asError())
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	if err := c.workspace.atRevision(d, in.Rev); err != nil {
		return nil, err
	}
	return c.workspace.addImported(ctx, d, in, lines)
}

// previewImport answers with the text that an import would add.
func (c *commands) previewImport(ctx context.Context, args, names []string) (any, error) {
	text := &limitedBuffer{limit: maxText}
	end := c.jobs.runText(ctx, append(args, names...), text)
	if text.Len() == 0 && end.status != "done" {
		return nil, end.asError()
	}
	out := &ImportResult{Text: text.String()}
	if m := strings.TrimSpace(end.messages); m != "" {
		out.Messages = strings.Split(m, "\n")
	}
	return out, nil
}

// addImported adds resources to a document as one step. The caller holds the document.
func (w *workspace) addImported(ctx context.Context, d *document, in Import, lines []json.RawMessage) (any, error) {
	d.readModel()
	if d.model == nil {
		return nil, refuse(http.StatusUnprocessableEntity, "shape", "the text has an error: "+errText(d.modelErr))
	}
	next := d.model
	for _, line := range lines {
		var found struct {
			Type, Name string
			Properties json.RawMessage
		}
		if err := json.Unmarshal(line, &found); err != nil {
			return nil, err
		}
		props, err := orderedProps(found.Properties)
		if err != nil {
			return nil, err
		}
		if next, _, err = next.Apply(model.Edit{Op: model.Add, Type: found.Type, Name: found.Name, Props: props, At: in.At}); err != nil {
			return nil, err
		}
	}
	list := difference(d.text, next.Text)
	if err := checkText(d.text, list); err != nil {
		return nil, err
	}
	before, base := d.text, d.rev
	if err := d.record(list, false); err != nil {
		return nil, err
	}
	return w.tell(ctx, d, before, base, list, asker{client: in.Client, have: in.Have}), nil
}

// test answers POST /api/test.
func (c *commands) test(_ context.Context, in Test) (any, error) {
	if err := c.workspace.gate.check(); err != nil {
		return nil, err
	}
	args := append([]string{"test", "--output", "json", "--unsaved"}, c.insecureFlag()...)
	shown := "ccm test"
	if in.Spec != "" {
		if err := checkFileName(in.Spec); err != nil {
			return nil, err
		}
		if fi, err := c.workspace.directory.root.Lstat(in.Spec); err != nil || fi.Mode().Type()&^fs.ModeDir != 0 {
			return nil, refuse(http.StatusNotFound, "", diag.NotFound("spec", "", nil).Error())
		}
		args = append(args, "--", in.Spec)
		shown += " " + in.Spec
	}
	stdin, err := json.Marshal(c.workspace.editedTexts(nil))
	if err != nil {
		return nil, err
	}
	var results []json.RawMessage
	job, err := c.jobs.start(func(string) command {
		return command{args: args, stdin: stdin, line: func(line json.RawMessage) { results = append(results, line) }}
	}, func(id string, e commandEnd) {
		list, err := json.Marshal(results)
		if err != nil || results == nil {
			list = json.RawMessage("[]")
		}
		c.hub.send("test-end", TestEnd{Job: id, Status: e.status, Exit: e.exit, Results: list, Messages: e.messages, Duration: e.duration.Milliseconds()})
	})
	if err != nil {
		return nil, err
	}
	job.Command = shown
	return job, nil
}
