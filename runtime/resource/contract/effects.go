package contract

import (
	"context"
	"fmt"
	"path"
	"slices"
	"strings"

	"github.com/luaccm/ccm/runtime/diag"
	"github.com/luaccm/ccm/runtime/host"
	"github.com/luaccm/ccm/runtime/host/overlay"
	"github.com/luaccm/ccm/runtime/lazyregexp"
	"github.com/luaccm/ccm/runtime/resource"
	"github.com/luaccm/ccm/runtime/safepath"
)

// planned returns the decision of a plan.
func (x Trial) planned(ctx context.Context, h *host.Host) resource.Decision {
	v := h.Planning(ctx)
	have, err := x.Binding.Status(ctx, v, x.Want)
	if err != nil {
		return resource.Decision{}
	}
	return x.Binding.Type.Decide(x.Want, have, false)
}

// left compares what the actions of d left on the machine with the effects of d. It returns an
// error if a path is not as its effect says, or if a path without an effect was changed.
func (x Trial) left(ctx context.Context, h *host.Host, d resource.Decision, before map[string]string) error {
	last := make(map[string]overlay.PathEffect)
	for _, p := range d.Effects {
		if p.Account == nil {
			last[p.Path] = p
		}
	}
	for _, p := range d.Effects {
		if p.Account == nil && last[p.Path].Kind == p.Kind {
			if err := standsAs(h, p); err != nil {
				return fmt.Errorf("left otherwise than a plan expects after %s: %w", phrases(d), err)
			}
		}
	}
	if !d.Complete && !d.FilesComplete || len(d.Actions) == 0 {
		return nil
	}
	after, err := snapshot(ctx, &h.View)
	if err != nil {
		return err
	}
	names := make(map[string]bool)
	for name := range before {
		names[name] = before[name] != after[name]
	}
	for name := range after {
		names[name] = before[name] != after[name]
	}
	for name, changed := range names {
		if leftover().MatchString(name) && after[name] == "" {
			continue
		}
		if changed && !slices.ContainsFunc(d.Effects, func(p overlay.PathEffect) bool { return covers(p, name, after[name]) }) {
			return fmt.Errorf("after %s, %s was changed, of which a plan expects nothing", phrases(d), name)
		}
	}
	return nil
}

// leftover matches temporary files of an earlier run, which the next run removes.
var leftover = lazyregexp.New(`/\..+\.ccm-[^/]*$`)

// covers reports whether the effect on path p explains a change of the path name: they are the
// same path, name is a directory that was made above p, or name is below p and the effect is not
// exact.
func covers(p overlay.PathEffect, name, now string) bool {
	above := strings.HasPrefix(p.Path, strings.TrimSuffix(name, "/")+"/") && strings.HasPrefix(now, safepath.Directory.String())
	below := strings.HasPrefix(name, p.Path+"/") && (p.Open || p.Unsure || p.Vague || p.Kind == safepath.Missing)
	if p.Account != nil {
		return overlay.HoldsAccounts(name, false)
	}
	return p.Path != "" && (name == path.Clean(p.Path) || above || below)
}

// standsAs returns an error if the path of an effect is not as the effect says.
func standsAs(h *host.Host, p overlay.PathEffect) error {
	if p.Unsure {
		return nil
	}
	now, err := h.Lstat(p.Path)
	switch {
	case err != nil:
		return err
	case p.Vague && now.Kind == safepath.Missing:
		return fmt.Errorf("nothing is at %s", p.Path)
	case p.Vague:
		return nil
	case now.Kind != p.Kind:
		return diag.Expected("%s at %s", p.Kind, p.Path).Found("%s", now.Kind)
	}
	if p.Target != "" {
		if target, err := h.Readlink(p.Path); err != nil || target != p.Target {
			return diag.Expected("a link to %s at %s", p.Target, p.Path).Found("one to %s", target)
		}
	}
	if p.Attr != nil && p.Attr.Mode != now.Mode {
		return diag.Expected("mode %04o of %s", p.Attr.Mode, p.Path).Found("%04o", now.Mode)
	}
	if p.Content == nil {
		return nil
	}
	if text, err := h.ReadFile(p.Path); err != nil || string(text) != *p.Content {
		return diag.Expected("the content %q of %s", *p.Content, p.Path).Found("%q", text)
	}
	return nil
}
