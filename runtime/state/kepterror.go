package state

import (
	"errors"
	"fmt"
	"path"

	"github.com/luaccm/ccm/runtime/host"
	"github.com/luaccm/ccm/runtime/safepath"
)

// A KeptError reports that a directory that a run created is not removed, because it holds something that the run is not
// recorded to have created, such as what a command put there.
type KeptError struct{ Name string }

// Error reports what is in the directory.
func (e *KeptError) Error() string {
	return fmt.Sprintf("it holds %s, which no record of the run names, and is kept (remove it yourself)", e.Name)
}

// Created returns the paths of a list that are to be removed.
func Created(list []Restoration) map[string]bool {
	created := make(map[string]bool)
	for _, x := range list {
		if x.Want.Kind == safepath.Missing {
			created[x.Path] = true
		}
	}
	return created
}

// Kept returns a *KeptError if a directory that is to be removed holds more than created paths, which are removed
// before it, and nil otherwise.
func (r Restoration) Kept(v *host.View, created map[string]bool) error {
	if r.Want.Kind != safepath.Missing {
		return nil
	}
	return kept(v, r.Path, created)
}

func kept(v *host.View, dir string, created map[string]bool) error {
	info, err := v.Lstat(dir)
	if err != nil || info.Kind != safepath.Directory {
		return err
	}
	names, err := v.ReadDir(dir)
	if err != nil {
		return err
	}
	for _, name := range names {
		if !created[path.Join(dir, name)] {
			return &KeptError{name}
		}
		err := kept(v, path.Join(dir, name), created)
		if _, stays := errors.AsType[*KeptError](err); stays {
			return &KeptError{name}
		} else if err != nil {
			return err
		}
	}
	return nil
}
