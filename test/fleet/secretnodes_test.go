package fleet_test

import (
	"bytes"
	"context"
	"errors"
	"os"
	"path/filepath"
	"testing"

	"github.com/nats-io/jwt/v2"
	"github.com/nats-io/nkeys"
	"github.com/stretchr/testify/require"

	"github.com/luaccm/ccm/fleet/direct"
	"github.com/luaccm/ccm/fleet/identity"
	"github.com/luaccm/ccm/fleet/record"
	"github.com/luaccm/ccm/fleet/subject"
)

// A secretSite is a site directory with secrets, beside the fleet of a lab.
type secretSite struct {
	l   *lab
	dir string
}

// run runs ccm in the folder, with the age identity in the file key.
func (s *secretSite) run(key string, args ...string) (stdout, stderr string, status int) {
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	cmd := s.l.command(ctx, args...)
	cmd.Dir, cmd.Env = s.dir, append(cmd.Env, "CCM_AGE_IDENTITY_FILE="+key)
	var out, errs bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &errs
	_ = cmd.Run()
	return out.String(), errs.String(), cmd.ProcessState.ExitCode()
}

// must is run for a command that has to succeed. It returns both outputs.
func (s *secretSite) must(t *testing.T, key string, args ...string) string {
	t.Helper()
	stdout, stderr, status := s.run(key, args...)
	require.Zero(t, status, "ccm %v: %s%s", args, stdout, stderr)
	return stdout + stderr
}

// enrol makes a machine a node with an age identity of its own, and returns the path of that.
func (l *lab) enrol(t *testing.T, name, environment string, more ...string) (key string) {
	t.Helper()
	m := l.ask(t, name, environment)
	l.must(t, append([]string{"fleet", "enrol", "approve", name, "--fingerprint", m.fingerprint(t)}, more...)...)
	require.NoError(t, <-m.done, m.text(t))
	return filepath.Join(m.dir, "age.key")
}

// Secrets for a role can be read by the nodes to which operators gave the role. A node that claims the role in
// its facts cannot read them, and neither can somebody who stores a node with the role on the servers.
func TestSecretsForRole(t *testing.T) {
	l := sharedLab(t)
	role, db1, db2, web := unique("role"), unique("db"), unique("db"), unique("web")
	first := l.enrol(t, db1, "prod", "--tag", "role="+role)
	liar := l.enrol(t, web, "prod")
	own, err := identity.ReadCredentials(filepath.Join(filepath.Dir(liar), "node.creds"))
	require.NoError(t, err)
	l.says(t, &nodeIdentity{own, filepath.Join(filepath.Dir(liar), "node.creds")},
		record.State{Outcome: "stable", Labels: map[string]string{"role": role}}, map[string]any{"role": role, "tags": []string{"role=" + role}})

	s := &secretSite{l, t.TempDir()}
	ann := filepath.Join(s.dir, "ann.key")
	public, stderr, status := s.run("", "secret", "keygen", "-o", ann)
	require.Zero(t, status, stderr)
	s.must(t, "", "secret", "recipients", "add", "ann", public[:len(public)-1])
	plain := filepath.Join(s.dir, "db.conf")
	require.NoError(t, os.WriteFile(plain, []byte("password = hunter2"), 0o600))

	// No node matches: nothing is written.
	before, err := os.ReadFile(filepath.Join(s.dir, ".ccm/recipients"))
	require.NoError(t, err)
	for _, c := range []struct{ to, want string }{
		{"tag:role=" + role + "x", "no node has the tag role=" + role + `x (did you mean "tag:role=` + role + `"?)`},
		{"tag:role", `tag "role": expected NAME=VALUE`},
		{"role:db", `expected the name of a node, tag:NAME=VALUE or env:NAME, got "role:db"`},
		{db1 + "x", `no such node "` + db1 + `x" (did you mean`},
	} {
		_, stderr, status := s.run(ann, "secret", "encrypt", "db.conf", "--to", c.to)
		require.NotZero(t, status)
		require.Contains(t, stderr, "--to "+c.to+": "+c.want)
	}
	after, err := os.ReadFile(filepath.Join(s.dir, ".ccm/recipients"))
	require.NoError(t, err)
	require.Equal(t, string(before), string(after))
	require.NoFileExists(t, plain+".age")

	said := s.must(t, ann, "secret", "encrypt", "db.conf", "--for", "ann", "--to", "tag:role="+role)
	require.Contains(t, said, "wrote db.conf.age, for ann, @tag:role="+role+" (ann, "+db1+")\n")
	require.NotContains(t, said, "Only nodes can read it")
	text, err := os.ReadFile(filepath.Join(s.dir, ".ccm/recipients"))
	require.NoError(t, err)
	require.Contains(t, string(text), "@tag:role="+role+" "+db1+"\n")
	require.Contains(t, string(text), "# prod SHA256:", "what a reader compares")
	require.NotContains(t, string(text), web)
	require.Equal(t, "password = hunter2", s.must(t, first, "secret", "decrypt", "db.conf.age"))
	_, stderr, status = s.run(liar, "secret", "decrypt", "db.conf.age")
	require.NotZero(t, status)
	require.Contains(t, stderr, "no identity on this machine can decrypt it")
	require.Contains(t, s.must(t, ann, "secret", "encrypt", "db.conf", "--to", db1, "-o", "alone.age"), "Only nodes can read it: nobody can edit or rekey it. Add people with --for NAME.\n")
	require.NoError(t, os.Remove(filepath.Join(s.dir, "alone.age")))

	// Somebody with access to the servers has stored a node: no key of the fleet has signed it.
	sequence := l.forge(t, "prod", "role", role)
	_, stderr, status = s.run(ann, "secret", "recipients", "nodes")
	require.NotZero(t, status)
	require.Contains(t, stderr, "key that signed 1 nodes is not in fleet.json: they would be skipped")
	deleteMessage(t, l.stream(t, l.desk(t), subject.Answers), sequence)
	waitFor(t, "it to be gone", func() error {
		if _, foreign, err := l.desk(t).Nodes(t.Context()); err != nil || len(foreign) > 0 {
			return errors.Join(err, errors.New("it is there"))
		}
		return nil
	})

	// Another node gets the role. After an update of the recipients, rekey encrypts existing secrets for it.
	second := l.enrol(t, db2, "test", "--tag", "role="+role)
	stdout, stderr, status := s.run(ann, "secret", "recipients", "nodes", "-n")
	require.Equal(t, 4, status, stdout+stderr)
	require.Contains(t, stderr, "+ "+db2+"  test SHA256:")
	unchanged, err := os.ReadFile(filepath.Join(s.dir, ".ccm/recipients"))
	require.NoError(t, err)
	require.Equal(t, string(text), string(unchanged))
	require.Contains(t, s.must(t, ann, "secret", "recipients", "nodes"), "~ @tag:role="+role+" is "+db1+", "+db2+"\n")
	require.Contains(t, s.must(t, ann, "secret", "rekey"), "db.conf.age: now for "+db2+"\n")
	require.Equal(t, "password = hunter2", s.must(t, second, "secret", "decrypt", "db.conf.age"))
	require.Contains(t, s.must(t, ann, "secret", "recipients", "nodes"), "The nodes in .ccm/recipients are up to date.")

	// A node is revoked. Rekey names the secrets that it could read.
	l.must(t, "fleet", "revoke", db1)
	require.Contains(t, s.must(t, ann, "secret", "recipients", "nodes"), "- "+db1+"\n")
	said = s.must(t, ann, "secret", "rekey")
	require.Contains(t, said, "db.conf.age: no longer for "+db1+"\n"+db1+" could read: db.conf.age\n")
	_, _, status = s.run(first, "secret", "decrypt", "db.conf.age")
	require.NotZero(t, status)

	// A file gets other recipients.
	_, stderr, status = s.run(ann, "secret", "rekey", "--to", web)
	require.NotZero(t, status)
	require.Contains(t, stderr, "expected the files to encrypt to "+web)
	said = s.must(t, ann, "secret", "rekey", "db.conf.age", "--for", "ann", "--to", web)
	require.Contains(t, said, "db.conf.age: now for "+web+", no longer for "+db2+"\n"+db2+" could read: db.conf.age\n")
	require.Equal(t, "password = hunter2", s.must(t, liar, "secret", "decrypt", "db.conf.age"))
}

// forge stores a node with a tag, signed by a key that is none of the fleet. It returns the sequence number of
// the message.
func (l *lab) forge(t *testing.T, environment, tag, value string) uint64 {
	t.Helper()
	signer, err := nkeys.CreateAccount()
	require.NoError(t, err)
	user, err := nkeys.CreateUser()
	require.NoError(t, err)
	key, err := user.PublicKey()
	require.NoError(t, err)
	claims := jwt.NewUserClaims(key)
	claims.Name, claims.IssuerAccount = "forged", l.directory(t).Fleet.Account
	claims.Tags.Add("env:"+environment, tag+":"+value)
	token, err := claims.Encode(signer)
	require.NoError(t, err)
	ack, err := direct.Publish(t.Context(), l.desk(t).Cluster.Conn, subject.Enrolled(key), []byte(`{"protocol":"io.choria.ccm.v1.enrol.answer","jwt":"`+token+`"}`))
	require.NoError(t, err)
	return ack.Sequence
}

// A node gets a role after a secret was encrypted for that role, so it cannot read the secret: ccm fleet release
// warns of that before it stores the release, and the node reports it after its run has failed.
func TestFleetSecretUnreadable(t *testing.T) {
	f := newThree(t)
	l := f.lab
	key, _ := l.operatorKey(t, "ops", 7)
	first := l.enrol(t, "db1", "prod", "--tag", "role=db")
	s := &secretSite{l, t.TempDir()}
	require.NoError(t, os.WriteFile(filepath.Join(s.dir, "db.conf"), []byte("password = hunter2"), 0o600))
	s.must(t, first, "secret", "encrypt", "db.conf", "--to", "tag:role=db")
	require.NoError(t, os.Remove(filepath.Join(s.dir, "db.conf")))
	site := `file { "/etc/db.conf", content = secret.age("db.conf.age"), owner = "root", group = "root", mode = "0600" }`
	require.NoError(t, os.WriteFile(filepath.Join(s.dir, "site.lua"), []byte(site), 0o644))
	release := []string{"fleet", "release", "prod", ".", "--sign", key, "--no-check"}
	require.NotContains(t, s.must(t, first, release...), "cannot read it")

	second := l.enrol(t, "db2", "prod", "--tag", "role=db")
	require.NoError(t, os.Rename(filepath.Join(filepath.Dir(second), "node.creds"), filepath.Join(l.scratch, "db2.creds")))
	l.enrol(t, "web1", "prod")
	said := s.must(t, first, release...)
	require.Contains(t, said, "! db.conf.age: db2 cannot read it, although it is for tag:role=db\n  Update it with: ccm secret recipients nodes")
	require.Contains(t, s.must(t, first, append(release, "--output", "json")...), `"unreadable_secrets": [`)

	f.start("db2") // whose runs find no key of age
	f.eventually(func() bool { return f.problem("db2", record.SecretUnreadable) == "db.conf.age" })
	status := l.must(t, "fleet", "status", "--once")
	require.Contains(t, status, "secret_unreadable (db2): db.conf.age")
	s.must(t, first, "fleet", "release", "prod", l.site(t, motd("one")), "--sign", key, "--no-check")
	f.eventually(func() bool { return f.motd("db2") == "one" && f.problem("db2", record.SecretUnreadable) == "" })
}
