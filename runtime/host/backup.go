package host

import (
	"github.com/luaccm/ccm/runtime/diag"
	"github.com/luaccm/ccm/runtime/host/target"
	"github.com/luaccm/ccm/runtime/safepath"
)

// at returns the place of a path that is about to be changed. The caller has to close it.
func (h *Host) at(name string) (target.Target, error) {
	p, err := h.files.At(name)
	return h.targetAt(p, name), safepath.PathError("open", name, err)
}

// targetAt returns the target for changing the entry at a place.
func (h *Host) targetAt(p safepath.Location, name string) target.Target {
	return target.Target{Location: p, Effects: h, PathName: name, Sweeps: h.sweeps}
}

// HasBackup reports whether there is a backup beside the path, which was made before a command
// like validate_after and left by a run that died. It is not one of the state directory.
func (v *View) HasBackup(name string) (bool, error) {
	p, err := v.files.At(name)
	if safepath.IsMissing(err) {
		return false, nil
	}
	if err != nil {
		return false, safepath.PathError("open", name, err)
	}
	defer p.Close()
	old, err := target.FindBackup(p)
	return err == nil && old.Exists(), safepath.PathError("lstat", name, err)
}

// Backups are second names beside the entries at paths, kept while something else is tried at
// these paths.
type Backups struct{ host *Host }

// Backups returns the backups of the machine.
func (h *Host) Backups() Backups { return Backups{h} }

// Make gives the file or symbolic link at the path a second name in its directory, so that
// Rollback can restore it after it was replaced. If the path is missing, a dangling link records
// that. [Backups.Rollback] or [Backups.Discard] must follow; if this process dies before,
// [View.HasBackup] reports. An earlier backup stays, because it is the original.
func (b Backups) Make(name string) error {
	p, err := b.host.at(name)
	if err != nil {
		return err
	}
	defer p.Close()
	return p.Backup(writesInPlace(b.host, p.Location))
}

// Rollback moves the backup back to the path, or removes the entry if the path was missing.
func (b Backups) Rollback(name string) error {
	p, old, err := b.find(name)
	if err != nil {
		return err
	}
	defer p.Close()
	if !old.Exists() {
		return diag.None("backup copy of %s", name)
	}
	b.host.log.Debug("put back", "path", name)
	if writesInPlace(b.host, p.Location) {
		return b.rollbackInPlace(p, old)
	}
	return p.Rollback(old)
}

// rollbackInPlace writes the content of a backup over that of the file at a path.
func (b Backups) rollbackInPlace(p target.Target, old target.BackupFile) error {
	f, info, err := old.Open()
	if err != nil {
		return err
	}
	defer f.Close()
	if err := b.host.WriteFile(p.PathName, f, safepath.Attr{UID: info.UID, GID: info.GID, Mode: info.Mode}); err != nil {
		return err
	}
	return p.RemoveBackup(old)
}

// Discard removes the backup if there is one.
func (b Backups) Discard(name string) error {
	p, old, err := b.find(name)
	if err != nil {
		return err
	}
	defer p.Close()
	return p.RemoveBackup(old)
}

// find returns the place of a path and its backup. The caller closes the place.
func (b Backups) find(name string) (target.Target, target.BackupFile, error) {
	p, err := b.host.at(name)
	if err != nil {
		return p, target.BackupFile{}, err
	}
	old, err := target.FindBackup(p.Location)
	if err != nil {
		p.Close()
	}
	return p, old, safepath.PathError("lstat", name, err)
}
