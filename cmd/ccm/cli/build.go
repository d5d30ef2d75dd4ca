package cli

import "time"

// BuildInfo is the information of a binary about its own build.
type BuildInfo struct {
	Version  string `json:"version"`
	Commit   string `json:"commit,omitempty"`
	Time     string `json:"time,omitempty"`     // of the commit, as RFC 3339
	Modified bool   `json:"modified,omitempty"` // files differed from the commit
	Go       string `json:"go"`
	System   string `json:"system"` // GOOS/GOARCH
}

// Built returns when the commit was made that ccm was built of; zero if that is not known.
func (b BuildInfo) Built() time.Time {
	t, err := time.Parse(time.RFC3339, b.Time)
	if err != nil {
		return time.Time{}
	}
	return t
}
