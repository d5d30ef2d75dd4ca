package inventory

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os/exec"
	"path/filepath"
	"strings"
	"time"

	"github.com/luaccm/ccm/runtime/diag"
)

// readProgram reads the inventory of a program, as Ansible does: --list prints all of it as JSON,
// and --host NAME the variables of a host, unless _meta has them.
func (inv *Inventory) readProgram(ctx context.Context, file string) error {
	text, err := ask(ctx, file, "--list")
	if err != nil {
		return err
	}
	return inv.readJSON(file+" --list", text, func(host string) ([]byte, error) { return ask(ctx, file, "--host", host) })
}

// ask runs an inventory's program and returns its output.
func ask(ctx context.Context, file string, args ...string) ([]byte, error) {
	abs, err := filepath.Abs(file)
	if err != nil {
		return nil, err
	}
	cmd := exec.CommandContext(ctx, abs, args...)
	var out, errs limitedBuffer
	cmd.Stdout, cmd.Stderr = &out, &errs
	cmd.WaitDelay = time.Second // for processes that the program left running, which may hold both
	if err = cmd.Run(); errors.Is(err, exec.ErrWaitDelay) {
		err = nil
	}
	what := file + " " + strings.Join(args, " ")
	switch {
	case out.over:
		return nil, fmt.Errorf("%s: %w", what, diag.Exceeds("", "16 MiB of output"))
	case err != nil:
		lines := strings.Split(strings.TrimSpace(errs.text.String()), "\n")
		if last := lines[len(lines)-1]; last != "" {
			return nil, fmt.Errorf("%s: %w: %s", what, err, last)
		}
		return nil, fmt.Errorf("%s: %w", what, err)
	}
	return out.text.Bytes(), nil
}

// A limitedBuffer keeps at most maxFile bytes. The buffer is a field because its other methods
// would pass the limit.
type limitedBuffer struct {
	text bytes.Buffer
	over bool
}

// Write implements io.Writer.
func (l *limitedBuffer) Write(p []byte) (int, error) {
	if l.text.Len()+len(p) > maxFile {
		l.over = true
		return 0, io.ErrShortWrite
	}
	return l.text.Write(p)
}

// readJSON reads the output of a program. ask returns the variables of a host.
func (inv *Inventory) readJSON(at string, text []byte, ask func(host string) ([]byte, error)) error {
	var groups map[string]json.RawMessage
	if err := json.Unmarshal(text, &groups); err != nil {
		return fmt.Errorf("%s: %w", at, diag.Expected("JSON of groups: %w", err))
	}
	var meta *struct {
		Hostvars map[string]map[string]any `json:"hostvars"`
	}
	if raw, ok := groups["_meta"]; ok {
		if err := decodeJSON(raw, &meta); err != nil {
			return fmt.Errorf("%s: _meta: %w", at, err)
		}
		delete(groups, "_meta")
	}
	before := len(inv.order)
	for _, name := range sortedKeys(groups) {
		if err := inv.jsonGroup(at, name, groups[name]); err != nil {
			return err
		}
	}
	if meta == nil {
		for _, name := range inv.order[before:] {
			text, err := ask(name)
			if err != nil {
				return err
			}
			vars := make(map[string]any)
			if err := decodeJSON(text, &vars); err != nil && len(bytes.TrimSpace(text)) > 0 {
				return fmt.Errorf("%s: variables of host %s: %w", at, name, err)
			}
			inv.hosts[name].vars.addJSON(vars, at)
		}
		return nil
	}
	for _, name := range sortedKeys(meta.Hostvars) {
		h, err := inv.host(name, at)
		if err != nil {
			return err
		}
		h.vars.addJSON(meta.Hostvars[name], at)
	}
	return nil
}

// jsonGroup reads a group: a list of hosts, or hosts, vars and children.
func (inv *Inventory) jsonGroup(at, name string, raw json.RawMessage) error {
	var parts struct {
		Hosts, Children []string
		Vars            map[string]any
	}
	err := decodeJSON(raw, &parts.Hosts)
	if err != nil {
		err = decodeJSON(raw, &parts)
	}
	if err != nil {
		return fmt.Errorf("%s: group %s: %w", at, name, err)
	}
	g := inv.group(name, at)
	g.define(inv)
	for _, h := range parts.Hosts {
		if _, err := inv.host(h, at); err != nil {
			return err
		}
		g.add(h)
	}
	for _, c := range parts.Children {
		inv.group(c, at).define(inv) // programs name groups that are empty
		g.addChild(c)
	}
	g.vars.addJSON(parts.Vars, at)
	return nil
}

func (v variables) addJSON(vars map[string]any, at string) {
	for name, value := range vars {
		v[name] = variable{plain(value), at}
	}
}

// decodeJSON decodes JSON, and keeps the spelling of numbers.
func decodeJSON(text []byte, into any) error {
	d := json.NewDecoder(bytes.NewReader(text))
	d.UseNumber()
	return d.Decode(into)
}

// plain returns a value with numbers of Go, and marks vault values as unknown.
func plain(v any) any {
	switch v := v.(type) {
	case json.Number:
		if n, err := v.Int64(); err == nil {
			return n
		}
		f, _ := v.Float64() // the decoder has checked that it is a number
		return f
	case []any:
		for i := range v {
			v[i] = plain(v[i])
		}
	case map[string]any:
		if _, ok := v["__ansible_vault"]; ok {
			return unknownValue("encrypted with ansible-vault")
		}
		for k := range v {
			v[k] = plain(v[k])
		}
	}
	return v
}
