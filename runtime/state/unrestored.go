package state

import (
	"encoding/json"

	"github.com/luaccm/ccm/runtime/resource"
)

// Unrestored returns the resources that a run has changed without changing a file of its record, in order: what commands
// did, such as to install a package, no restore takes back. What was only refreshed is left out.
func (s *Store) Unrestored(run *Record) (list []string, err error) {
	byFile := make(map[string]bool)
	for _, c := range run.Changes {
		byFile[c.Resource] = true
		for _, id := range c.Also {
			byFile[id] = true
		}
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
			return nil // whoever restores is told of damaged lines
		}
		if id := (resource.ID{Type: e.Type, Name: e.Name}).String(); !byFile[id] {
			list = append(list, id)
		}
		return nil
	})
	return list, err
}
