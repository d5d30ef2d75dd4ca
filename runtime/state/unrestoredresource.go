package state

import (
	"encoding/json"

	"github.com/luaccm/ccm/runtime/resource"
)

// UnrestoredResources returns the resources that a run changed without a recorded file or removal, in order.
// No restore takes back what commands did, such as the installation of a package. Resources that
// were only refreshed are left out.
func (s *Store) UnrestoredResources(run *Record) (list []string, err error) {
	byFile := make(map[string]bool)
	for _, c := range run.Changes {
		byFile[c.Resource.InEvent()] = true
		for _, id := range c.Also {
			byFile[id.InEvent()] = true
		}
	}
	for _, x := range run.removals {
		byFile[x.Resource.InEvent()] = true
	}
	_, err = s.readLines(runFile(run.ID), func(line []byte) error {
		var e struct {
			Type      string `json:"type"`
			Name      string `json:"name"`
			Provider  string `json:"provider"`
			Changed   bool   `json:"changed"`
			Refreshed bool   `json:"refreshed"`
		}
		if json.Unmarshal(line, &e) != nil || !e.Changed || e.Refreshed || e.Provider == "restore" {
			return nil // the restore reports damaged lines
		}
		if id := (resource.ID{Type: e.Type, Name: e.Name}).String(); !byFile[id] {
			list = append(list, id)
		}
		return nil
	})
	return list, err
}
