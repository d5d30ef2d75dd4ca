package studio

import (
	"context"
	"encoding/json"
	"errors"
	"io/fs"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/luaccm/ccm/runtime/diag"
	"github.com/luaccm/ccm/runtime/terminal"
	"github.com/luaccm/ccm/site"
	"github.com/luaccm/ccm/studio/guard"
)

const (
	// maxItems is the most completions of an answer.
	maxItems = 50
	// completeTimeout is the time limit for listing names on the machine.
	completeTimeout = 3 * time.Second
	maxFactsName    = 64
)

// machineTypes are the kinds of completion from this machine, with their types of resources.
var machineTypes = map[string]string{"package": "package", "service": "service"}

// accountFiles are the files with the names of users and groups, one per line, before a colon
// (passwd(5), group(5)).
var accountFiles = map[string]string{"owner": "/etc/passwd", "user": "/etc/passwd", "group": "/etc/group"}

// serveComplete answers GET /api/complete.
func (s *Server) serveComplete(w http.ResponseWriter, r *http.Request) {
	q := r.URL.Query()
	ctx, cancel := context.WithTimeout(r.Context(), completeTimeout)
	defer cancel()
	names, err := s.machine.complete(ctx, q.Get("what"), q.Get("prefix"), q.Get("file"))
	if err != nil {
		respond(w)(nil, err)
		return
	}
	out := Completion{Items: []CompletionItem{}}
	for _, name := range names {
		if len(out.Items) == maxItems {
			out.Cut = true
			break
		}
		out.Items = append(out.Items, CompletionItem{Text: terminal.Line(name)})
	}
	guard.Reply(w, http.StatusOK, out)
}

// A machine answers about this machine, and keeps facts of others.
type machine struct {
	evaluator *evaluator
	workspace *workspace
}

// complete returns the names that begin with prefix, in order.
func (m *machine) complete(ctx context.Context, what, prefix, file string) (names []string, err error) {
	switch what {
	case "path":
		return pathsOf(prefix), nil
	case "ref":
		names, err = m.references(file)
	case "owner", "user", "group":
		names = accountNames(accountFiles[what])
	default:
		typ, ok := machineTypes[what]
		if !ok {
			return nil, refuse(http.StatusBadRequest, "", "what: "+diag.Expected("owner, group, package, service, path or ref").Error())
		}
		if names, err = site.NamesOnMachine(ctx, &m.evaluator.main.Host("/").View, m.evaluator.knownFacts(), typ, prefix); err != nil {
			return nil, nil // without an answer of the machine there are no proposals
		}
	}
	names = slices.DeleteFunc(names, func(n string) bool { return !strings.HasPrefix(strings.ToLower(n), strings.ToLower(prefix)) })
	slices.Sort(names)
	return slices.Compact(names), err
}

// accountNames returns the names in a file of accounts.
func accountNames(file string) (names []string) {
	text, err := os.ReadFile(file)
	if err != nil {
		return nil
	}
	for line := range strings.Lines(string(text)) {
		if name, _, ok := strings.Cut(line, ":"); ok && name != "" && !strings.ContainsAny(name[:1], "#+-") {
			names = append(names, name)
		}
	}
	return names
}

// references returns the IDs of the resources in a file.
func (m *machine) references(file string) (names []string, err error) {
	d, err := m.workspace.document(file, false)
	if err != nil {
		return nil, err
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	d.readModel()
	if d.model != nil {
		for _, r := range d.model.Resources {
			names = append(names, r.ID)
		}
	}
	if d.checked != nil && d.checked.order != nil {
		for _, r := range d.checked.order.resources {
			names = append(names, r.id())
		}
	}
	return names, nil
}

// pathsOf returns the paths of this machine that begin with a prefix; directories end with a
// slash.
func pathsOf(prefix string) (names []string) {
	if !strings.HasPrefix(prefix, "/") {
		return nil
	}
	dir, base := filepath.Split(prefix)
	f, err := os.Open(dir)
	if err != nil {
		return nil
	}
	defer f.Close()
	for len(names) <= maxItems*20 { // a directory may have millions of entries
		entries, err := f.ReadDir(256)
		for _, e := range entries {
			if !strings.HasPrefix(e.Name(), base) || strings.HasPrefix(e.Name(), ".") && base == "" {
				continue
			}
			name := dir + e.Name()
			if e.IsDir() {
				name += "/"
			}
			names = append(names, name)
		}
		if err != nil {
			break
		}
	}
	slices.Sort(names)
	return names
}

// profileFile returns the path of the facts of another machine.
func profileFile(name string) (string, error) {
	ok := name != "" && len(name) <= maxFactsName && strings.Trim(name, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789._-") == "" && !strings.HasPrefix(name, ".")
	if !ok {
		return "", refuse(http.StatusBadRequest, "", "the name of a profile: "+diag.Expected("letters, digits and . _ -").Error())
	}
	return "facts/" + name + ".json", nil
}

// serveFacts answers GET /api/facts.
func (s *Server) serveFacts(w http.ResponseWriter, r *http.Request) {
	respond(w)(s.machine.factsOf(r.Context(), r.URL.Query().Get("profile")))
}

// factsOf returns the facts of this machine, or the kept facts of another one.
func (m *machine) factsOf(ctx context.Context, profile string) (any, error) {
	out := &FactsAnswer{Profile: profile, Profiles: []string{}}
	files, _ := m.workspace.directory.list()
	for _, f := range files {
		if name, ok := strings.CutPrefix(f.Name, "facts/"); ok {
			if name, ok = strings.CutSuffix(name, ".json"); ok && !strings.Contains(name, "/") {
				out.Profiles = append(out.Profiles, name)
			}
		}
	}
	if profile != "" {
		file, err := profileFile(profile)
		if err != nil {
			return nil, err
		}
		t, err := m.workspace.readTrusted(file)
		if err != nil {
			return nil, err
		}
		if !json.Valid([]byte(t.text)) {
			return nil, refuse(http.StatusUnprocessableEntity, "", file+" is not JSON")
		}
		out.Facts = json.RawMessage(t.text)
		return out, nil
	}
	fs, err := m.evaluator.gatherFacts(ctx)
	if err != nil {
		return nil, err
	}
	val, err := fs.Get("") // facts that could not be gathered are left out
	if val == nil {
		return nil, err
	}
	text, err := json.Marshal(val)
	out.Facts = text
	return out, err
}

// keepProfile answers POST /api/facts.
func (m *machine) keepProfile(ctx context.Context, in Profile) (any, error) {
	file, err := profileFile(in.Profile)
	if err != nil {
		return nil, err
	}
	now, err := m.workspace.directory.read(file)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, err
	}
	if len(in.Facts) == 0 || string(in.Facts) == "null" {
		if err := m.workspace.directory.remove(file); err != nil {
			return nil, err
		}
		return m.factsOf(ctx, "")
	}
	var tree map[string]any
	if err := json.Unmarshal(in.Facts, &tree); err != nil {
		return nil, refuse(http.StatusBadRequest, "", "facts: "+diag.Expected("an object").Error())
	}
	text, err := json.MarshalIndent(tree, "", "  ")
	if err != nil {
		return nil, err
	}
	if _, err := m.workspace.saveFile(file, string(text)+"\n", now.digest); err != nil {
		return nil, err
	}
	return m.factsOf(ctx, in.Profile)
}
