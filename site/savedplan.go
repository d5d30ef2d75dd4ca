package site

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/luaccm/ccm/runtime/diag"
	"github.com/luaccm/ccm/runtime/event"
	"github.com/luaccm/ccm/runtime/host"
	"github.com/luaccm/ccm/runtime/resource"
	"github.com/luaccm/ccm/runtime/secret"
	"github.com/luaccm/ccm/runtime/state"
	"github.com/luaccm/ccm/runtime/trust"
)

const (
	planProtocol = "io.choria.ccm.v1.plan"
	// planFormat is the version of what a saved plan holds. A plan of another one is refused.
	planFormat = 1
	planStart  = `{"protocol":"` + planProtocol + `"`
)

// A SavedPlan is the plan of a site: how the site was read, and the decision about each resource.
// It has no properties, only digests of them that are keyed with the key of the state directory,
// so it has no secrets.
//
// To run it, the site is read and planned again. So a forged plan cannot do anything that the
// site does not describe.
type SavedPlan struct {
	Protocol string    `json:"protocol"`
	Format   int       `json:"format"`
	Version  string    `json:"ccm_version"`
	Time     time.Time `json:"time"`
	// Directory is the working directory for relative paths of options.
	Directory string   `json:"directory"`
	File      string   `json:"file"` // as the user named it
	Args      []string `json:"args,omitempty"`
	Options   *Options `json:"options"`
	// Key is the key of the digests, if the state directory has none yet.
	Key []byte `json:"key,omitempty"`
	// KeyDigest identifies the key.
	KeyDigest string `json:"key_digest"`
	// Inputs are what the script read besides the machine.
	Inputs    []state.Input     `json:"inputs,omitempty"`
	Resources []plannedResource `json:"resources"`
}

// A plannedResource is the decision about a resource.
type plannedResource struct {
	ID string `json:"id"`
	// Declaration is the keyed digest of all its properties.
	Declaration string `json:"declaration"`
	Outcome     string `json:"outcome"`
	Provider    string `json:"provider,omitempty"`
	// Reason is the reason of a failure.
	Reason  string            `json:"reason,omitempty"`
	Actions []resource.Action `json:"actions,omitempty"`
	Diff    []resource.Delta  `json:"diff,omitempty"`
}

// Undecided returns the number of resources about which only the run decides.
func (plan *SavedPlan) Undecided() (n int) {
	for _, x := range plan.Resources {
		if x.Outcome == event.Unknown.String() {
			n++
		}
	}
	return n
}

// IsSavedPlan reports whether a text is a saved plan rather than a script or manifest.
func IsSavedPlan(text string) bool { return strings.HasPrefix(text, planStart) }

// isScriptName reports whether a name is that of a script, a manifest or a bundle.
func isScriptName(name string) bool {
	switch strings.ToLower(filepath.Ext(name)) {
	case ".lua", ".yaml", ".yml", ".gz", ".tgz":
		return true
	}
	return false
}

// ReadPlan reads a saved plan; nil if the file is a script or manifest, or cannot be read.
func ReadPlan(ctx context.Context, p *Process, file, stateDir string) (*SavedPlan, error) {
	if file == "-" || isScriptName(file) {
		return nil, nil
	}
	if fi, err := os.Stat(file); err != nil || !fi.Mode().IsRegular() {
		return nil, nil // a pipe can be read only once
	}
	_, text, err := p.ReadInput(ctx, file)
	if err != nil || !IsSavedPlan(text) {
		return nil, nil // the reader of the site reports the error
	}
	plan, err := parsePlan(text)
	if err != nil {
		return nil, &diag.Error{Pos: diag.Pos{File: file}, Err: err}
	}
	if err := plan.check(p, stateDir); err != nil {
		err.Pos = diag.Pos{File: file}
		return nil, err
	}
	return plan, nil
}

// Save writes the plan to a file that only its owner can read. It replaces only an earlier plan.
func (plan *SavedPlan) Save(file string, policy *trust.Policy) error {
	if err := CheckPlanFile(file, policy); err != nil {
		return err
	}
	r, w := io.Pipe()
	defer r.Close() // ends write if saving fails
	go func() { w.CloseWithError(plan.write(w)) }()
	return host.New(host.Options{}).SaveFrom(file, r, 0o600)
}

// CheckPlanFile returns the reason why a plan cannot be saved in a file, or nil.
func CheckPlanFile(file string, policy *trust.Policy) error {
	if isScriptName(file) {
		return diag.Errorf(diag.Pos{}, "--out: %w", diag.OfKind(file, "a name of scripts, manifests or bundles")).WithHint("name it %s.plan", strings.TrimSuffix(file, filepath.Ext(file)))
	}
	switch fi, err := os.Stat(file); {
	case errors.Is(err, os.ErrNotExist):
		return nil
	case err != nil:
		return fmt.Errorf("--out: %w", err)
	case !fi.Mode().IsRegular():
		return fmt.Errorf("--out: %w", diag.Not(file, "a regular file"))
	default:
		head, err := headOfPlan(file, policy)
		switch {
		case err != nil:
			return err
		case head != "" && !IsSavedPlan(head):
			return fmt.Errorf("--out: %w", diag.Exists(file, "and is not a saved plan"))
		case fi.Mode().Perm()&0o077 != 0:
			return diag.Errorf(diag.Pos{}, "--out: %w", diag.OfKind(file, "a file that others can read")).WithHint("run chmod 600 %s, or remove it", file)
		}
		return nil
	}
}

// headOfPlan returns the first bytes of a file, as many as tell whether it is a saved plan.
func headOfPlan(file string, policy *trust.Policy) (string, error) {
	f, err := policy.Open(file)
	if err != nil {
		return "", err
	}
	defer f.Close()
	head, err := io.ReadAll(io.LimitReader(f, int64(len(planStart))))
	return string(head), err
}

// parsePlan reads the text of a saved plan.
func parsePlan(text string) (*SavedPlan, error) {
	var head struct {
		Format int `json:"format"`
	}
	if err := json.Unmarshal([]byte(text), &head); err != nil {
		return nil, diag.Not("", "a saved plan, or a damaged one: %w", err)
	}
	if head.Format != planFormat {
		return nil, diag.OtherFormat("saved plan", head.Format, planFormat)
	}
	plan := new(SavedPlan)
	dec := json.NewDecoder(strings.NewReader(text))
	dec.DisallowUnknownFields()
	if err := dec.Decode(plan); err != nil {
		return nil, diag.Damaged("the plan", err)
	}
	if _, err := dec.Token(); err != io.EOF {
		return nil, diag.Damaged("the plan", diag.Unexpected("data at its end"))
	}
	switch {
	case plan.File == "" || plan.File == "-":
		return nil, diag.Damaged("the plan", diag.None("script or manifest"))
	case plan.Options == nil:
		return nil, diag.Damaged("the plan", diag.None("options"))
	case plan.Key != nil && len(plan.Key) != secret.KeySize:
		return nil, diag.Damaged("the plan", diag.Expected("a key of %d bytes", secret.KeySize).Got("%d", len(plan.Key)))
	}
	seen := make(map[string]bool, len(plan.Resources))
	for _, x := range plan.Resources {
		if seen[x.ID] {
			return nil, diag.Damaged("the plan", diag.Duplicate("%q", x.ID))
		}
		seen[x.ID] = true
	}
	return plan, nil
}

// check returns the reason why the plan cannot be run here, or nil. It gives the process the key
// of the plan.
func (plan *SavedPlan) check(p *Process, stateDir string) *diag.Error {
	if plan.Version != p.Version {
		return diag.At(diag.Pos{}, diag.Requires("the plan", "ccm %s, this is %s", plan.Version, p.Version)).WithHint("%s", plan.hint())
	}
	dir, err := p.Files.Bundle.workingDirectory()
	if err != nil {
		return &diag.Error{Err: err}
	}
	if dir != plan.Directory {
		return diag.At(diag.Pos{}, diag.Requires("the plan", "the directory %s, this is %s", plan.Directory, dir)).WithHint("run cd %s first", plan.Directory)
	}
	if _, err := p.Files.ReadKey(stateDir); err != nil && plan.Key != nil {
		p.Secrets.UseKey(plan.Key)
	}
	if plan.KeyDigest != p.Secrets.Digest("plan", "key") {
		return diag.At(diag.Pos{}, diag.OfAnother("the plan", "machine, user or --state-dir")).WithHint("%s", plan.hint())
	}
	return nil
}

// hint returns the advice to make a new plan.
func (plan *SavedPlan) hint() string {
	return "make a new plan with: ccm plan " + plan.File + " --out FILE"
}

// write writes the plan in the form that parsePlan reads, a resource at a time: a text of 50,000 takes 50 MiB more.
func (plan *SavedPlan) write(w io.Writer) error {
	head := *plan
	head.Resources = []plannedResource{}
	text, err := encoded(head)
	if err != nil {
		return err
	}
	b := bufio.NewWriter(w) // Flush returns its first error
	_, _ = b.Write(bytes.TrimSuffix(text, []byte("]}")))
	for i, x := range plan.Resources {
		if text, err = encoded(x); err != nil {
			return err
		}
		if i > 0 {
			_ = b.WriteByte(',')
		}
		_, _ = b.Write(text)
	}
	_, _ = b.WriteString("]}\n")
	return b.Flush()
}

// encoded returns x in JSON, without escapes for HTML.
func encoded(x any) ([]byte, error) {
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	err := enc.Encode(x)
	return bytes.TrimSuffix(b.Bytes(), []byte("\n")), err
}
