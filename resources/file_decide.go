package resources

import (
	"cmp"

	"fmt"

	"github.com/luaccm/ccm/runtime/diag"
	"github.com/luaccm/ccm/runtime/host/overlay"
	"github.com/luaccm/ccm/runtime/resource"
	"github.com/luaccm/ccm/runtime/safepath"
)

// Decide implements resource.Spec.
func (f File) Decide(have FileState) resource.Decision {
	if have.Followed != "" {
		f.Name = have.Followed
	}
	switch {
	case f.Ensure == FileAbsent:
		return f.decideAbsent(have)
	case f.Ensure == FileExisting && have.Kind == safepath.Missing:
		return resource.Decision{Err: diag.Expected("an existing file or directory").Found("nothing")}
	case have.Kind == safepath.Symlink && f.Links == LinksReplace:
		return f.decideReplaceLink(have)
	case have.Kind == safepath.Symlink:
		return resource.Decision{Err: diag.Expected("%s", f.wanted()).Found("a symbolic link to %s, which is not followed (%s)", have.Target, f.linksHint())}
	case f.Ensure == FileExisting && have.Kind == safepath.Directory && f.Capabilities != nil:
		return resource.Decision{Err: diag.Expected("a file, which alone can have capabilities").Found("a directory")}
	case f.Ensure == FileExisting && have.Kind == safepath.Directory:
	case have.Kind != safepath.Missing && have.Kind != f.wanted():
		return resource.Decision{Err: diag.Expected("%s", f.wanted()).Found("%s, which is not replaced", have.Kind)}
	}
	if f.Ensure == FilePresent {
		if err := have.parentError(f.Parents); err != nil {
			return resource.Decision{Err: err}
		}
	}
	return f.decidePresent(have)
}

// linksHint names the ways to deal with a symbolic link.
func (f File) linksHint() string {
	if f.Ensure != FilePresent {
		return `set links = "follow" to manage its target`
	}
	return `set links = "follow" to manage its target, or links = "replace" to replace it with the file`
}

// decideReplaceLink decides to put the file in the place of a symbolic link.
func (f File) decideReplaceLink(have FileState) resource.Decision {
	link := have.Target
	have.Kind = safepath.Missing
	d := f.decidePresent(have)
	d.Diff[0].Have = "link to " + link
	d.Actions = nil
	d.AddAction("Store", "replaced the symbolic link by the file")
	return d
}

// wanted returns the desired kind.
func (f File) wanted() safepath.FileKind {
	if f.Ensure == FileDirectory {
		return safepath.Directory
	}
	return safepath.Regular
}

func (f File) decideAbsent(have FileState) (d resource.Decision) {
	if have.Kind == safepath.Missing && !have.CheckAfterPending {
		return d
	}
	if f.ValidationAfter().IsGiven() && (have.Kind == safepath.Directory || have.Kind == safepath.Special) {
		d.Err = fmt.Errorf("validate_after: %w", diag.Expected("a file or a symbolic link to remove").Found("%s, which cannot be restored", have.Kind))
		return d
	}
	verb, phrase := "Remove", "removed the file"
	switch have.Kind {
	case safepath.Directory:
		// Entries that must not be removed keep the directory: see resource.Removals.
		if phrase = "removed the directory"; have.Entries {
			verb = "RemoveTree"
		}
	case safepath.Symlink:
		phrase = "removed the symbolic link"
	case safepath.Missing:
		phrase = "asked validate_after about the removed file"
	}
	if have.Kind != safepath.Missing {
		d.Add("ensure", have.CurrentEnsure(), string(FileAbsent))
	}
	if have.CheckAfterPending {
		d.Add("validate_after", "not asked", "passed")
	}
	d.AddAction(verb, phrase)
	gone := overlay.PathEffect{Path: f.Name, Kind: safepath.Missing}
	if f.Force {
		gone.Keeps = []string{}
	}
	d.Effects, d.Complete = []overlay.PathEffect{gone}, true
	if have.Kind == safepath.Regular {
		d.Text = f.text(have)
	}
	return d
}

func (f File) decidePresent(have FileState) (d resource.Decision) {
	verb, phrase := "Create", "created the file"
	switch {
	case f.Ensure == FileDirectory:
		verb, phrase = "CreateDirectory", "created directory"
	case f.Content == nil && f.Source == nil:
		phrase = "created an empty file" // a phrase of its own, because content may be nil by mistake
	}
	if have.Kind == safepath.Missing {
		d.Add("ensure", string(FileAbsent), string(f.Ensure))
	} else {
		phrase = "updated attributes"
		switch f.Ensure {
		case FilePresent:
			verb = "Store"
		case FileExisting:
			verb = "SetAttributes"
		}
	}
	if have.ContentDiffers {
		d.Add("content", have.content(), have.wantedContent())
		if have.Kind != safepath.Missing {
			phrase = "updated the file"
		}
	}
	if have.Kind == safepath.Missing {
		if f.ManagesOwner() {
			d.Add("owner", "", f.Owner)
		}
		if f.ManagesGroup() {
			d.Add("group", "", f.Group)
		}
		if f.mode().mask != 0 {
			d.Add("mode", "", f.Mode.String())
		}
		have.tellParents(&d)
	} else {
		if have.UID != have.WantUID {
			d.Add("owner", have.Owner, f.Owner)
		}
		if have.GID != have.WantGID {
			d.Add("group", have.Group, f.Group)
		}
		will := f.ModeOver(have.Kind, have.Mode, len(d.Diff) > 0)
		switch {
		case !f.mode().Matches(have.Mode):
			d.Add("mode", modeText(have.Mode), f.Mode.String())
		case len(d.Diff) > 0 && will != have.Mode:
			d.Add("mode", modeText(have.Mode), modeText(will))
		}
	}
	switch will := f.capabilities(have); {
	case will == have.Capabilities:
	case have.Kind == safepath.Missing:
		d.Add("capabilities", "", will.String())
	default:
		d.Add("capabilities", cmp.Or(have.Capabilities.String(), "none"), cmp.Or(will.String(), "none"))
	}
	if have.CheckAfterPending {
		d.Add("validate_after", "not asked", "passed")
	}
	if len(d.Diff) == 0 {
		return d
	}
	d.AddAction(verb, phrase)
	d.Effects, d.Complete = have.Parents.effects(f.effect(have)), true
	if have.ContentDiffers || have.Kind == safepath.Missing && f.Ensure == FilePresent {
		d.Text = f.text(have)
	}
	return d
}

// effect returns the effect at the path.
func (f File) effect(have FileState) overlay.PathEffect {
	p := overlay.PathEffect{Path: f.Name, Kind: f.wanted(), KeepsHardLinks: f.HardLinks == HardLinksKeep}
	if f.Ensure == FileExisting {
		p.Kind = have.Kind
	}
	switch {
	case p.Kind == safepath.Directory:
	case f.ManagesContent(have.Kind):
		if p.Content = f.Content; f.Source != nil && !have.SourceUnknown {
			p.Source, p.Size = *f.Source, have.Source.Size
		}
	case have.Kind == safepath.Missing:
		p.Content = new("")
	default:
		p.Kept = true
	}
	if f.Capabilities != nil {
		p.SetsCapabilities = f.Capabilities.Given && !p.Kept || *f.Capabilities != have.Capabilities
	}
	mode := have.Mode
	if have.Kind == safepath.Missing {
		if mode = 0o644; f.Ensure == FileDirectory {
			mode = cmp.Or(have.NewDirectoryMode, 0o755)
		}
	}
	chowned := have.UID != have.WantUID || have.GID != have.WantGID
	p.Attr = &safepath.Attr{UID: have.WantUID, GID: have.WantGID, Mode: f.ModeOver(p.Kind, mode, chowned)}
	return p
}

func modeText(mode uint32) string { return fmt.Sprintf("%04o", mode) }
