package state

import (
	"cmp"
	"context"

	"github.com/luaccm/ccm/runtime/host"
	"github.com/luaccm/ccm/runtime/resource"
	"github.com/luaccm/ccm/runtime/safepath"
)

// Differs returns the differences between the path as it is now and the version to restore.
func (s Restorer) Differs(ctx context.Context, v *host.View, r Restoration) (diff []resource.Delta, err error) {
	now, err := versionAt(v, r.Path)
	if err != nil {
		return nil, err
	}
	add := func(property, have, want string) {
		if have != want {
			diff = append(diff, resource.Delta{Property: property, Have: have, Want: want})
		}
	}
	if now.Kind != r.Want.Kind {
		add("ensure", kinds[now.Kind], kinds[r.Want.Kind])
	}
	if r.Want.Kind == safepath.Missing {
		return diff, nil
	}
	same, err := s.same(ctx, v, r, now)
	if err != nil {
		return nil, err
	}
	if !same && r.Want.Object != "" {
		have := ""
		if now.Kind == safepath.Regular {
			if have, err = v.Sum(ctx, r.Path); err != nil {
				return nil, err
			}
		}
		shown, want := resource.DigestText(have), resource.DigestText(r.Want.Object)
		if r.Sensitive {
			if shown, want, err = s.masked(v, r, now, shown); err != nil {
				return nil, err
			}
		}
		add("content", shown, want)
	}
	if now.Kind != r.Want.Kind {
		now = Version{} // nothing of the present file stays
	}
	add("target", string(now.Target), string(r.Want.Target))
	if r.Want.Kind != now.Kind || now.UID != r.Want.UID {
		add("owner", nameOf(now, v.UserName(now.UID)), v.UserName(r.Want.UID))
	}
	if r.Want.Kind != now.Kind || now.GID != r.Want.GID {
		add("group", nameOf(now, v.GroupName(now.GID)), v.GroupName(r.Want.GID))
	}
	if r.Want.Kind != safepath.Symlink && (r.Want.Kind != now.Kind || now.Mode != r.Want.Mode) {
		add("mode", nameOf(now, now.Mode.String()), r.Want.Mode.String())
	}
	if r.Want.Xattrs != nil {
		add("capabilities", cmp.Or(now.capabilities().String(), "none"), cmp.Or(r.Want.capabilities().String(), "none"))
	}
	return diff, nil
}

func nameOf(v Version, name string) string {
	if v.Kind == safepath.Missing {
		return ""
	}
	return name
}

// masked returns the masks for two contents with secrets: the present one, whose digest text is
// have, and the one to restore. Reports of runs show the same masks.
func (s Restorer) masked(v *host.View, r Restoration, now Version, have string) (maskedHave, maskedWant string, err error) {
	switch {
	case have == "":
	case now.Size > resource.TextLimit:
		maskedHave = s.store.secrets.Mask(have)
	default:
		text, err := v.ReadFile(r.Path)
		if err != nil {
			return "", "", err
		}
		maskedHave = resource.MaskContent(s.store.secrets, string(text))
	}
	text, err := s.store.Content(r.Want.Object)
	return maskedHave, resource.MaskContent(s.store.secrets, string(text)), err
}

// same reports whether the file at the path already has the content to restore.
func (s Restorer) same(ctx context.Context, v *host.View, r Restoration, now Version) (bool, error) {
	if r.Want.Kind != safepath.Regular || now.Kind != safepath.Regular {
		return now.Kind == r.Want.Kind, nil
	}
	if r.Want.Object == "" {
		// Neither the run nor a later one replaced the content.
		return now.sameContent(r.Want), nil
	}
	if now.Size != r.Want.Size {
		return false, nil
	}
	sum, err := v.Sum(ctx, r.Path)
	return s.store.backups.IsNamed(r.Want.Object, sum), err
}

// Text returns the present content and the content to restore, for a diff. It is nil if there is
// no content, or if the content may hold secrets or is too large.
func (s Restorer) Text(v *host.View, r Restoration) (*resource.TextChange, error) {
	info, err := v.Lstat(r.Path)
	if err != nil {
		return nil, err
	}
	return s.text(versionOf(info), r, func() ([]byte, error) { return v.ReadFile(r.Path) })
}

// TextSince is Text after the restoration: before is the version that it replaced.
func (s Restorer) TextSince(before Version, r Restoration) (*resource.TextChange, error) {
	if before.Kind == safepath.Regular && before.Object == "" {
		return nil, nil // the content stays, or was not kept
	}
	return s.text(before, r, func() ([]byte, error) { return s.store.Content(before.Object) })
}

func (s Restorer) text(now Version, r Restoration, read func() ([]byte, error)) (*resource.TextChange, error) {
	if r.Sensitive || now.Size > resource.TextLimit || r.Want.Size > resource.TextLimit {
		return nil, nil
	}
	t := &resource.TextChange{Path: r.Path, HaveExists: now.Kind == safepath.Regular, WantExists: r.Want.Kind == safepath.Regular}
	if t.WantExists && r.Want.Object == "" || !t.HaveExists && !t.WantExists {
		return nil, nil
	}
	if t.HaveExists {
		text, err := read()
		if err != nil {
			return nil, err
		}
		t.Have = string(text)
	}
	var err error
	if t.WantExists {
		var text []byte
		text, err = s.store.Content(r.Want.Object)
		t.Want = string(text)
	}
	if t.Have == t.Want && t.HaveExists == t.WantExists {
		return nil, err
	}
	return t, err
}
