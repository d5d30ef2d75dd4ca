package fleet_test

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/luaccm/ccm/fleet/direct"
	"github.com/luaccm/ccm/fleet/job"
	"github.com/luaccm/ccm/fleet/release"
	"github.com/luaccm/ccm/fleet/signed"
	"github.com/luaccm/ccm/fleet/subject"
)

// Stolen servers store a release, a rollout and a job that no operator has signed. The commands of operators report
// that, and sign nothing based on them.
func TestForgedDocuments(t *testing.T) {
	l := newLab(t)
	f := l.fleet(t)
	// The operator's key and directory are those of the lab, so commands make the releases.
	allowed := filepath.Join(l.scratch, "allowed_signers")
	require.NoError(t, os.WriteFile(allowed, []byte(f.allowed), 0o600))
	out := l.must(t, "fleet", "init", l.dir, "--signers", allowed)
	require.Contains(t, out, "allowed_signers")
	_, stderr, status := l.ccm("fleet", "init", l.dir, "--signers", f.key.File)
	require.NotZero(t, status)
	require.Contains(t, stderr, f.key.File)
	for _, text := range []string{"one", "two"} {
		l.must(t, "fleet", "release", "prod", l.site(t, motd(text)), "--sign", f.key.File, "--no-check")
		l.must(t, "fleet", "rollout", "prod", "--watch", "--sign", f.key.File) // a rollback goes only to what was run
	}

	c := f.controller()
	c.Key, c.Keep = f.stranger(), nil
	evil := "sha256:" + f.bundle(motd("evil"))
	r := &signed.Release{Bundle: evil, Previous: 2, PreviousBundle: evil, Stages: []string{"100%"}}
	require.NoError(t, c.BeginRollback(t.Context(), r))
	require.Equal(t, int64(3), r.Version)

	stdout, stderr, status := l.ccm("fleet", "rollout", "prod")
	require.Zero(t, status, stderr)
	require.Contains(t, stdout, "Release 2 of prod", "as on the nodes")
	require.Contains(t, stdout, "! prod.release on the servers is not trusted: signing key SHA256:")
	require.Contains(t, stdout, "! prod.rollout on the servers is not trusted")
	stdout, _, status = l.ccm("fleet", "check")
	require.Equal(t, 4, status)
	require.Contains(t, stdout, "! prod.release on the servers is not trusted")
	require.Contains(t, l.must(t, "fleet", "status", "--once"), "! prod.release on the servers is not trusted")

	// A rollback would go to a bundle that the servers choose.
	var back struct {
		Release, Previous int64
		RollbackTo        int64 `json:"rollback_to"`
		Bundle            string
	}
	text := l.must(t, "fleet", "rollback", "prod", "--sign", f.key.File, "--output", "json")
	require.NoError(t, json.Unmarshal([]byte(text), &back), text)
	require.Equal(t, int64(4), back.Release, "nodes have told that they refused 3")
	require.Equal(t, int64(2), back.Previous)
	require.NotEqual(t, evil, back.Bundle)
	kept, err := (&release.Store{NC: f.nc, Environment: "prod"}).Release(t.Context(), 1)
	require.NoError(t, err)
	require.Equal(t, kept.Bundle, back.Bundle)
	require.NotContains(t, l.must(t, "fleet", "rollout", "prod"), "not believed")

	// A job with a false name of its author.
	for name, key := range map[string]string{"ops": f.key.File, "eve": f.stranger().File} {
		s := f.sender()
		s.Key.File, s.By = key, "boss"
		j := &signed.Job{Verb: signed.VerbRun, Reason: name}
		s.Fill(j, []string{"web1"}, time.Minute)
		order, err := signed.Sign(t.Context(), j, s.Key)
		require.NoError(t, err)
		_, err = direct.Publish(t.Context(), f.nc, subject.Job("prod", ""), order)
		require.NoError(t, err)
		require.NoError(t, signed.Read(order, new(signed.Job)))
	}
	stdout, stderr, _ = l.ccm("fleet", "jobs")
	for line := range strings.Lines(stdout) {
		switch {
		case strings.Contains(line, `"ops"`):
			require.Contains(t, line, "ops@example.org")
		case strings.Contains(line, `"eve"`):
			require.Contains(t, line, "SHA256:")
		}
		require.NotContains(t, line, "boss")
	}
	require.Contains(t, stderr, "! Unknown signer of 0")
	require.Contains(t, stderr, "is not allowed: not in ")
	verified := map[string]bool{}
	for line := range strings.Lines(l.must(t, "fleet", "jobs", "--output", "json")) {
		var j job.SentJob
		require.NoError(t, json.Unmarshal([]byte(line), &j), line)
		require.Len(t, j.Signers, 1)
		verified[j.Reason] = j.Verified
	}
	require.Equal(t, map[string]bool{"ops": true, "eve": false}, verified)

	// Without the file the key is shown, with the remark that it was not compared.
	require.NoError(t, os.Remove(filepath.Join(l.dir, "allowed_signers")))
	stdout, stderr, _ = l.ccm("fleet", "jobs")
	require.NotContains(t, stdout, "boss")
	require.Equal(t, 2, strings.Count(stdout, "SHA256:"))
	require.Contains(t, stderr, "no trusted signers are known here")
	_, stderr, _ = l.ccm("fleet", "rollout", "pause", "prod", "--sign", f.key.File)
	require.Contains(t, stderr, "Signatures on the servers' documents are not verified")
}
