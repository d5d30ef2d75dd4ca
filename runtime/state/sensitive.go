package state

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"slices"

	"github.com/luaccm/ccm/runtime/converge"
	"github.com/luaccm/ccm/runtime/diag"
	"github.com/luaccm/ccm/runtime/redact"
	"github.com/luaccm/ccm/runtime/resource"
)

const sensitiveFile = "sensitive.ndjson"

// A sensitiveLine is a line of the file: a resource and its properties, or a path, that held
// secrets. The secrets themselves are not recorded.
type sensitiveLine struct {
	Resource   Name     `json:"resource,omitempty"`
	Properties []string `json:"properties,omitempty"`
	Path       Name     `json:"path,omitempty"`
}

// SecretNames are the properties and paths that held secrets.
type SecretNames struct {
	resources map[string][]string
	paths     map[string]bool
}

var _ redact.History = (*SecretNames)(nil)

// Held implements redact.History.
func (x *SecretNames) Held(id resource.ID) []string { return x.resources[id.String()] }

// HeldIn implements redact.History.
func (x *SecretNames) HeldIn(path string) bool { return x.paths[path] }

// Sensitive returns the properties and paths that held secrets in the runs so far.
func (s *Store) Sensitive() (*SecretNames, error) {
	x := &SecretNames{resources: make(map[string][]string), paths: make(map[string]bool)}
	_, err := s.readLines(sensitiveFile, func(line []byte) error {
		var l sensitiveLine
		err := json.Unmarshal(line, &l)
		switch {
		case err != nil:
			return err
		case l.Path != "":
			x.paths[string(l.Path)] = true
		case l.Resource != "":
			x.add(string(l.Resource), l.Properties)
		default:
			return diag.Not("", "a line of this file")
		}
		return nil
	})
	return x, err
}

// add notes properties of a resource, and reports whether one is new.
func (x *SecretNames) add(id string, properties []string) (added bool) {
	have := x.resources[id]
	for _, p := range properties {
		if !slices.Contains(have, p) {
			have, added = append(have, p), true
		}
	}
	x.resources[id] = have
	return added
}

// Conceal makes an engine mask secrets, and properties that held secrets.
func (s *Store) Conceal(engine *converge.Engine) error {
	engine.Secrets = s.secrets
	if _, err := s.dir.Stat(sensitiveFile); errors.Is(err, os.ErrNotExist) {
		return nil // without a history, the engine has less to do
	}
	names, err := s.Sensitive()
	engine.SecretHistory = names
	if err != nil {
		return diag.About("state directory", err)
	}
	return nil
}

// secretNamesFile is the SecretNames of a run, with their file.
type secretNamesFile struct {
	*SecretNames
	file lines
}

// openSensitive reads the file.
func (s *Store) openSensitive() (*secretNamesFile, error) {
	x, err := s.Sensitive()
	return &secretNamesFile{x, lines{s: s, name: sensitiveFile}}, err
}

// noteResource notes the properties of a resource that hold secrets, and reports whether it holds or
// held any.
func (x *secretNamesFile) noteResource(r *resource.Resource) (bool, error) {
	if r == nil || len(r.Sensitive) == 0 && len(x.resources) == 0 {
		return false, nil
	}
	id := r.ID.String()
	if len(r.Sensitive) > 0 && x.add(id, r.Sensitive) {
		if err := x.file.add(false, sensitiveLine{Resource: Name(id), Properties: r.Sensitive}); err != nil {
			return true, err
		}
	}
	return len(x.resources[id]) > 0, nil
}

// notePath notes that a file holds secrets.
func (x *secretNamesFile) notePath(path string) error {
	if x.paths[path] {
		return nil
	}
	x.paths[path] = true
	return x.file.add(true, sensitiveLine{Path: Name(path)})
}

// noteSecrets notes for later runs which secrets a resource holds, and reports whether it holds
// or held any.
func (r *RecordWriter) noteSecrets(res *resource.Resource) bool {
	if res != nil && len(res.Sensitive) > 0 {
		if err := r.s.needKey(); err != nil {
			r.s.dir.Warn(fmt.Sprintf("%s: %v", r.s.dir.Path(keyFile), err))
		}
		if x, ok := res.Spec.(resource.FileEditor); ok && x.EditedFile() != "" {
			// Other resources may edit the file too.
			if err := r.sensitive.notePath(x.EditedFile()); err != nil {
				r.s.dir.Warn(fmt.Sprintf("%s: %v", r.s.dir.Path(sensitiveFile), err))
			}
		}
	}
	holds, err := r.sensitive.noteResource(res)
	if err != nil {
		r.s.dir.Warn(fmt.Sprintf("%s: %v", r.s.dir.Path(sensitiveFile), err))
	}
	return holds
}
