package resolve

import (
	"os"
	"strconv"
	"strings"
	"time"

	"github.com/luaccm/ccm/runtime/diag"
	"github.com/luaccm/ccm/runtime/git"
	"github.com/luaccm/ccm/runtime/signers"
)

// signer returns the name of a tag's signer, and an error if the file of signers does not accept the signature.
func (r *Resolver) signer(file string, got *CachedModule) (string, error) {
	unsigned := func(format string, args ...any) error {
		return diag.Errorf(diag.Pos{}, format, args...).WithHint("the site requires tags signed by one of %s", file)
	}
	if got.Tag == "" {
		return "", unsigned("archives cannot be signed")
	}
	at := strings.Index(got.TagObject, git.SignatureBegin)
	if at < 0 {
		return "", unsigned("tag %s lacks an SSH signature", got.Tag)
	}
	payload, signature := got.TagObject[:at], got.TagObject[at:]
	when, err := checkTag(payload, got)
	if err != nil {
		return "", unsigned("%w", err)
	}
	if err := r.Policy.Check(file); err != nil {
		return "", err
	}
	text, err := os.ReadFile(file)
	if err != nil {
		return "", err
	}
	list, err := signers.Parse(file, string(text))
	if err != nil {
		return "", err
	}
	who, err := list.Verify(strings.NewReader(payload), []byte(signature), git.SignatureNamespace, when)
	if err != nil {
		return "", unsigned("tag %s: %w", got.Tag, err)
	}
	return who.String(), nil
}

// checkTag returns the date of a signed tag, and an error unless its text names the commit and the tag that were
// asked for: a signed tag can be put under another name.
func checkTag(payload string, got *CachedModule) (when time.Time, err error) {
	head, _, _ := strings.Cut(payload, "\n\n")
	fields := make(map[string]string)
	for line := range strings.Lines(head) {
		key, value, _ := strings.Cut(strings.TrimSuffix(line, "\n"), " ")
		if _, twice := fields[key]; twice {
			return when, diag.Contains("tag", "duplicate line %q", key)
		}
		fields[key] = value
	}
	switch {
	case fields["object"] != got.Commit || fields["type"] != "commit":
		return when, diag.OfAnother("tag", "commit")
	case fields["tag"] != got.Tag:
		return when, diag.Expected("a signature of tag %q", got.Tag).Got("one of %q", fields["tag"])
	}
	// tagger NAME <ADDRESS> SECONDS ZONE
	words := strings.Fields(fields["tagger"])
	if len(words) < 2 {
		return when, diag.Lacks("tag", "a date")
	}
	seconds, err := strconv.ParseInt(words[len(words)-2], 10, 64)
	return time.Unix(seconds, 0), err
}
