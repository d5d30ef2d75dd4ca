package enrol

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nkeys"

	"github.com/luaccm/ccm/fleet/cluster"
	"github.com/luaccm/ccm/fleet/direct"
	"github.com/luaccm/ccm/fleet/identity"
	"github.com/luaccm/ccm/fleet/subject"
	"github.com/luaccm/ccm/runtime/diag"
	"github.com/luaccm/ccm/runtime/encryption"
	"github.com/luaccm/ccm/runtime/host"
	"github.com/luaccm/ccm/runtime/signers"
)

// Directory is the directory of a node's credentials. The others are names of files in it.
const (
	Directory       = "/etc/ccm/fleet"
	CredentialsFile = "node.creds"
	CAFile          = "ca.pem"
	SignersFile     = "allowed_signers"
	pendingKeyFile  = "node.nk"    // until there is an answer
	askedFile       = "node.asked" // the request of that key
)

// Times between polls for an answer.
const (
	firstLook = time.Second
	lastLook  = 10 * time.Second
)

// A Machine is a machine that asks to become a node.
type Machine struct {
	Directory   string   // of the credentials to write
	Servers     []string // URLs
	CA          string   // file with the authority of the servers
	Credentials string   // file with the shared credentials of new machines
	Signers     string   // file of the signers whose documents are trusted; "" for none
	Identity    string   // file of its age identity; made if missing
	Request     Request  // name, environment, and facts about the machine
	Token       *Token   // or nil

	Host  *host.Host
	Clock host.Clock
	Tell  func(format string, args ...any)
}

// Ask sends the request, waits for an answer, and writes the credentials. A machine that asks again
// does so with the same key.
func (m *Machine) Ask(ctx context.Context) (identity.NodeIdentity, error) {
	var none identity.NodeIdentity
	if n, err := identity.ReadCredentials(m.file(CredentialsFile)); err == nil {
		return none, (&diag.Error{Err: diag.Already("this machine", "node %s of %s: %s", n.Name, n.Environment,
			m.file(CredentialsFile))}).
			WithHint("if the node was revoked, remove that file and enrol again")
	} else if !errors.Is(err, fs.ErrNotExist) {
		return none, err
	}
	if err := m.prepare(); err != nil {
		return none, err
	}
	if err := m.forgetOther(); err != nil {
		return none, err
	}
	pair, err := m.key()
	if err != nil {
		return none, err
	}
	key, err := pair.PublicKey()
	if err != nil {
		return none, err
	}
	conn, err := cluster.Access{Servers: m.Servers, CA: m.CA, Credentials: m.Credentials, Inbox: subject.EnrolmentInbox(key), Name: "ccm agent enrol"}.Dial(nats.MaxReconnects(-1))
	if err != nil {
		return none, err
	}
	defer conn.Close()
	r := m.Request
	r.Key, r.Time = key, m.Clock.Now().UTC()
	if ip, err := conn.GetClientIP(); err == nil {
		r.Address = ip.String()
	}
	a, err := lookForAnswer(ctx, conn, key)
	if errors.Is(err, direct.ErrNone) {
		if err = m.send(ctx, conn, r, pair); err == nil {
			m.Tell("Requested enrolment as node %s of %s. Fingerprint: %s", r.Name, r.Environment, r.Fingerprint())
			m.Tell("Waiting for \"ccm fleet enrol approve %s\" ...", r.Name)
			a, err = waitForAnswer(ctx, conn, key)
		}
	}
	if err != nil {
		return none, err
	}
	return m.accept(a, r, pair)
}

func (m *Machine) file(name string) string { return filepath.Join(m.Directory, name) }

// prepare makes all that the node needs besides its key: its directory, the age identity, and
// copies of the authority and the signers.
func (m *Machine) prepare() error {
	if m.Signers != "" {
		text, err := os.ReadFile(m.Signers)
		if err != nil {
			return err
		}
		if _, err := signers.Parse(m.Signers, string(text)); err != nil {
			return err
		}
	}
	if err := m.Host.SaveDirectory(m.Directory); err != nil {
		return err
	}
	if err := m.readIdentity(); err != nil {
		return err
	}
	for name, from := range map[string]string{CAFile: m.CA, SignersFile: m.Signers} {
		if from == "" || filepath.Clean(from) == m.file(name) {
			continue
		}
		text, err := os.ReadFile(from)
		if err != nil {
			return err
		}
		if have, err := os.ReadFile(m.file(name)); err == nil && bytes.Equal(have, text) {
			continue
		}
		if err := m.Host.Save(m.file(name), text, 0o644); err != nil {
			return err
		}
	}
	return nil
}

// readIdentity reads the age identity, or makes one.
func (m *Machine) readIdentity() error {
	text, err := os.ReadFile(m.Identity)
	if errors.Is(err, fs.ErrNotExist) {
		made, _, err := encryption.NewIdentity(m.Clock.Now().UTC().Format(time.RFC3339))
		if err != nil {
			return err
		}
		if err := m.Host.SaveDirectory(filepath.Dir(m.Identity)); err != nil {
			return err
		}
		if err := m.Host.SaveNew(m.Identity, []byte(made), 0o600); err != nil {
			return err
		}
		text = []byte(made)
	} else if err != nil {
		return err
	}
	keys, err := encryption.PublicKeys(text)
	if err != nil {
		return fmt.Errorf("%s: %w", m.Identity, err)
	}
	for _, key := range keys {
		if strings.HasPrefix(key, "age1") {
			m.Request.Recipient = key
			return nil
		}
	}
	return fmt.Errorf("%s: %w", m.Identity, diag.None("age identity in the file"))
}

// A requestContent is the content of the request that was sent: the servers keep the first request of a
// key.
type requestContent struct {
	Name        string `json:"name"`
	Environment string `json:"environment"`
	Recipient   string `json:"recipient"`
	Token       string `json:"token,omitempty"`
}

// forgetOther removes the key of an earlier request with other content, such as a mistake. That
// request stays on the servers.
func (m *Machine) forgetOther() error {
	now := requestContent{Name: m.Request.Name, Environment: m.Request.Environment, Recipient: m.Request.Recipient}
	if m.Token != nil {
		now.Token = m.Token.ID
	}
	text, err := os.ReadFile(m.file(askedFile))
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	var before requestContent
	if err == nil && json.Unmarshal(text, &before) == nil && before == now {
		return nil
	}
	if err == nil {
		if err := os.Remove(m.file(pendingKeyFile)); err == nil {
			m.Tell("The earlier request was different; requesting again with a new key.")
		} else if !errors.Is(err, fs.ErrNotExist) {
			return err
		}
	}
	if text, err = json.Marshal(now); err != nil {
		return err
	}
	return m.Host.Save(m.file(askedFile), append(text, '\n'), 0o600)
}

// forget removes the files that are kept until there is an answer.
func (m *Machine) forget() error {
	if err := os.Remove(m.file(askedFile)); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	return os.Remove(m.file(pendingKeyFile))
}

// key reads the key of an earlier request, or makes one.
func (m *Machine) key() (nkeys.KeyPair, error) {
	path := m.file(pendingKeyFile)
	text, err := os.ReadFile(path)
	if err == nil {
		return nkeys.FromSeed(bytes.TrimSpace(text))
	}
	if !errors.Is(err, fs.ErrNotExist) {
		return nil, err
	}
	pair, err := nkeys.CreateUser()
	if err != nil {
		return nil, err
	}
	seed, err := pair.Seed()
	if err != nil {
		return nil, err
	}
	return pair, m.Host.SaveNew(path, append(seed, '\n'), 0o600)
}

// send stores the request, unless the servers have a request of this key.
func (m *Machine) send(ctx context.Context, conn *nats.Conn, r Request, pair nkeys.KeyPair) error {
	text, err := r.Encode(pair, m.Token)
	if err != nil {
		return err
	}
	_, err = direct.Publish(ctx, conn, subject.Request(r.Key), text)
	refusal, refused := errors.AsType[*direct.StoreError](err)
	switch {
	case refused && strings.Contains(refusal.Description, "maximum messages per subject exceeded"):
		return nil
	case errors.Is(err, direct.ErrNoStream):
		return errors.New("the servers accept no requests: their stream is missing or without a leader (run ccm fleet check)")
	case err != nil:
		return fmt.Errorf("the request: %w", err)
	}
	return nil
}

// ErrNoAnswer says that the machine gave up before there was an answer.
var ErrNoAnswer = diag.None("answer yet (run the command again to keep waiting)")

// lookForAnswer reads the answer to the request of a key.
func lookForAnswer(ctx context.Context, conn *nats.Conn, key string) (answer, error) {
	m, err := direct.Last(ctx, conn, subject.Answers, subject.Enrolled(key))
	if err != nil {
		return answer{}, err
	}
	return decodeAnswer(m.Data)
}

// waitForAnswer polls until there is an answer. It does not subscribe: a machine that is no node
// yet must not receive messages for others.
func waitForAnswer(ctx context.Context, conn *nats.Conn, key string) (answer, error) {
	for pause := firstLook; ; pause = min(pause*5/4, lastLook) {
		select {
		case <-ctx.Done():
			return answer{}, ErrNoAnswer
		case <-time.After(pause):
		}
		a, err := lookForAnswer(ctx, conn, key)
		if err == nil || ctx.Err() == nil && !errors.Is(err, direct.ErrNone) && !direct.IsPassing(err) {
			return a, err
		}
	}
}

// accept writes the credentials of an answer, if the answer is for this key.
func (m *Machine) accept(a answer, r Request, pair nkeys.KeyPair) (identity.NodeIdentity, error) {
	if a.Denial != "" {
		// The key was denied, so the next attempt uses another one.
		if err := m.forget(); err != nil {
			return identity.NodeIdentity{}, err
		}
		return identity.NodeIdentity{}, fmt.Errorf("an operator denied the request: %s", a.Denial)
	}
	n, err := identity.DecodeNode(a.JWT)
	switch {
	case err != nil:
		return n, fmt.Errorf("response: %w", err)
	case !a.RevokedAt.IsZero():
		return n, fmt.Errorf("the node was approved and then revoked (remove %s to request with a new key)", m.file(pendingKeyFile))
	case n.Key != r.Key:
		return n, diag.OfAnother("response", "key")
	case n.Recipient != r.Recipient:
		return n,
			diag.Not("the recipient of secrets in the response", "the one requested: the response was tampered with")
	}
	creds, err := identity.Credentials(a.JWT, pair)
	if err != nil {
		return n, err
	}
	if err := m.Host.SaveNew(m.file(CredentialsFile), creds, 0o600); err != nil {
		return n, err
	}
	return n, m.forget()
}

// Renew fetches a new JWT of a node, if operators have made one, and puts it into the credentials
// file. It reports whether there was one; then the node has to connect again. A node calls Renew
// when it connects, and now and then.
func Renew(ctx context.Context, conn *nats.Conn, credentials string, h *host.Host) (bool, error) {
	text, err := os.ReadFile(credentials)
	if err != nil {
		return false, err
	}
	have, err := identity.ReadCredentials(credentials)
	if err != nil {
		return false, err
	}
	a, err := lookForAnswer(ctx, conn, have.Key)
	if errors.Is(err, direct.ErrNone) {
		return false, nil
	}
	if err != nil || a.JWT == "" || a.JWT == have.JWT {
		return false, err
	}
	n, err := identity.DecodeNode(a.JWT)
	switch {
	case err != nil:
		return false, fmt.Errorf("new credentials: %w", err)
	case n.Key != have.Key, n.Name != have.Name, n.Recipient != have.Recipient:
		return false, diag.OfAnother("response", "node")
	case n.IssuedAt <= have.IssuedAt:
		return false, nil // a replica that lags, or servers that were restored
	}
	pair, err := nkeys.ParseDecoratedUserNKey(text)
	if err != nil {
		return false, err
	}
	creds, err := identity.Credentials(a.JWT, pair)
	if err != nil {
		return false, err
	}
	return true, h.Save(credentials, creds, 0o600)
}
