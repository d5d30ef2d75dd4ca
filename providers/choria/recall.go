package choria

import (
	"context"
	"crypto/sha256"
	"fmt"
	"strconv"
	"strings"

	"github.com/luaccm/ccm/resources"
	"github.com/luaccm/ccm/runtime/diag"
	"github.com/luaccm/ccm/runtime/host"
	"github.com/luaccm/ccm/runtime/resource"
	"github.com/luaccm/ccm/runtime/safepath"
)

// dirLine is the first word of the lines of empty directories in the digest of a rendering. The lines
// of files have the mode, the SHA-256 and the path.
const dirLine = "directory"

// digest returns the digest of a rendering: a line for each file and each empty directory.
func (r rendering) digest(ctx context.Context, v *host.View) (string, error) {
	var b strings.Builder
	for _, f := range r.files {
		sum, err := v.Sources().Sum(ctx, r.path(f.Rel))
		if err != nil {
			return "", err
		}
		fmt.Fprintf(&b, "%04o %s %q\n", f.Mode&0o7777, sum, f.Rel)
	}
	for _, dir := range r.dirs {
		fmt.Fprintf(&b, "%s %q\n", dirLine, dir)
	}
	return b.String(), nil
}

// parseDigest returns the rendering of a digest.
func parseDigest(text string) (rendering, error) {
	r := rendering{sums: make(map[string]string)}
	for line := range strings.Lines(text) {
		word, rest, _ := strings.Cut(strings.TrimSuffix(line, "\n"), " ")
		sum := ""
		if word != dirLine {
			sum, rest, _ = strings.Cut(rest, " ")
		}
		rel, err := strconv.Unquote(rest)
		if err != nil {
			return r, diag.Cannot("read", fmt.Sprintf("rendered files: %q", line), nil)
		}
		if word == dirLine {
			r.dirs = append(r.dirs, rel)
			continue
		}
		mode, err := strconv.ParseUint(word, 8, 12)
		if err != nil {
			return r, diag.Cannot("read", fmt.Sprintf("rendered files: %q", line), nil)
		}
		r.sums[rel] = sum
		r.files = append(r.files, safepath.TreeEntry{Rel: rel, Info: safepath.Info{Kind: safepath.Regular, Mode: uint32(mode)}})
	}
	return r, nil
}

// Recall implements resource.HistoricStatus.
func (p *scaffolds) Recall(ctx context.Context, v *host.View, want resources.Scaffold, desired resource.DesiredDigest) (resources.ScaffoldState, error) {
	have, compared, err := target(v, want)
	if err != nil || !compared {
		return have, err
	}
	if desired.Text == "" {
		return have, &resource.UnknownError{Reason: "no run has recorded the rendered files"}
	}
	if len(desired.Text) == 2*sha256.Size && !strings.Contains(desired.Text, " ") { // an old version of ccm kept only this of secrets
		return have, &resource.UnknownError{Reason: "contains secrets, so rendered files are not recorded"}
	}
	r, err := parseDigest(desired.Text)
	if err != nil {
		return have, err
	}
	r.key = desired.Key
	c, err := r.compare(ctx, v, want)
	c.setDifferences(&have)
	return have, err
}
