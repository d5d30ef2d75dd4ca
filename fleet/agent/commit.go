package agent

import (
	"strconv"
	"strings"
	"time"

	"github.com/luaccm/ccm/runtime/diag"
	"github.com/luaccm/ccm/runtime/git"
	"github.com/luaccm/ccm/runtime/sha256sum"
	"github.com/luaccm/ccm/runtime/signers"
)

// commitSigner returns the signer of a commit, given its text (git cat-file commit). The signed
// text is that without the signature's header (gpg.format=ssh, git-config(1)). As in git, the
// signer has to be allowed at the time of the commit.
func commitSigner(list *signers.List, text string) (signers.Signer, error) {
	payload, signature, err := splitCommit(text)
	if err != nil {
		return signers.Signer{}, err
	}
	when, err := committed(payload)
	if err != nil {
		return signers.Signer{}, err
	}
	return list.Verify(strings.NewReader(payload), []byte(signature), git.SignatureNamespace, when)
}

// splitCommit splits the text of a commit into the signed part and the signature. A header
// continues in lines that begin with a blank; an empty line ends the headers.
func splitCommit(text string) (payload, signature string, err error) {
	var rest, sig strings.Builder
	in, found, at := false, 0, 0
	for line := range strings.Lines(text) {
		if line == "\n" {
			break
		}
		at += len(line)
		if in && line[0] == ' ' {
			sig.WriteString(line[1:])
			continue
		}
		name, val, _ := strings.Cut(line, " ")
		if in = name == "gpgsig" || name == "gpgsig-sha256"; in {
			found++
			sig.WriteString(val)
			continue
		}
		rest.WriteString(line)
	}
	switch {
	case found == 0:
		return "", "", diag.Not("", "signed")
	case found > 1:
		return "", "", diag.Expected("one signature").Found("several")
	}
	rest.WriteString(text[at:])
	return rest.String(), sig.String(), checkKind(sig.String())
}

func checkKind(signature string) error {
	if !strings.HasPrefix(signature, git.SignatureBegin) {
		return diag.Not("", "signed with an SSH key")
	}
	return nil
}

// committed returns the time of a commit: committer NAME <ADDRESS> SECONDS ZONE.
func committed(payload string) (time.Time, error) {
	head, _, _ := strings.Cut(payload, "\n\n")
	var when time.Time
	seen := 0
	for line := range strings.Lines(head) {
		rest, ok := strings.CutPrefix(line, "committer ")
		if !ok {
			continue
		}
		seen++
		words := strings.Fields(rest)
		if len(words) < 2 {
			break
		}
		seconds, err := strconv.ParseInt(words[len(words)-2], 10, 64)
		if err != nil {
			break
		}
		when = time.Unix(seconds, 0)
	}
	if seen != 1 || when.IsZero() {
		return when, diag.Lacks("commit", "a date")
	}
	return when, nil
}

// fingerprint returns a short name of a text; "" for "".
func fingerprint(text string) string {
	if text == "" {
		return ""
	}
	return sha256sum.Short(text, 8)
}
