package signers

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net"
	"os"
	"os/exec"
	"strings"
	"time"

	"github.com/hiddeco/sshsig"
	"golang.org/x/crypto/ssh"
	"golang.org/x/crypto/ssh/agent"
)

// AgentVariable names the socket of the agent that keeps keys (ssh-agent(1)).
const AgentVariable = "SSH_AUTH_SOCK"

// A Key signs for one person.
type Key struct {
	// File holds the key, private or public, as ssh-keygen -Y sign takes it with -f; "" for a
	// key of the agent.
	File string
	// May reports whether a key of the agent is one that may sign. Nil takes any.
	May func(ssh.PublicKey) bool
	// Prompts takes what ssh-keygen says to a person, such as that a key wants to be touched.
	Prompts io.Writer
}

// Sign returns the signature of a message for a namespace, as text. The key is used as it is if it
// stands in its file without a passphrase. The agent is asked for others, and then ssh-keygen, which asks
// for passphrases and knows keys in hardware.
func (k Key) Sign(ctx context.Context, message io.ReadSeeker, namespace string) ([]byte, error) {
	signature, err := k.sign(ctx, message, namespace)
	if err != nil {
		return nil, err
	}
	if _, err := message.Seek(0, io.SeekStart); err != nil {
		return nil, err
	}
	return signature, Check(message, signature, namespace)
}

func (k Key) sign(ctx context.Context, message io.ReadSeeker, namespace string) ([]byte, error) {
	if k.File == "" {
		return k.byAgent(message, namespace, k.May)
	}
	text, err := os.ReadFile(k.File)
	if errors.Is(err, fs.ErrNotExist) {
		if _, err := os.Stat(k.File + ".pub"); err != nil {
			return nil, fmt.Errorf("no key to sign with: there is no file %s", k.File)
		}
	}
	if err != nil {
		return k.byProgram(ctx, message, namespace) // which says what it takes for a key
	}
	if signer, err := ssh.ParsePrivateKey(text); err == nil {
		return sign(message, signer, namespace)
	}
	if public, err := publicKey(k.File, text); err == nil && os.Getenv(AgentVariable) != "" {
		same := func(other ssh.PublicKey) bool { return bytes.Equal(other.Marshal(), public.Marshal()) }
		if signature, err := k.byAgent(message, namespace, same); err == nil {
			return signature, nil
		}
	}
	return k.byProgram(ctx, message, namespace)
}

// publicKey returns the public key of a file, which is itself one or has one beside it.
func publicKey(file string, text []byte) (ssh.PublicKey, error) {
	key, _, _, _, err := ssh.ParseAuthorizedKey(text)
	if err == nil {
		return key, nil
	}
	if text, err = os.ReadFile(file + ".pub"); err != nil {
		return nil, err
	}
	key, _, _, _, err = ssh.ParseAuthorizedKey(text)
	return key, err
}

// byAgent signs with the first key of the agent that fits.
func (k Key) byAgent(message io.ReadSeeker, namespace string, fits func(ssh.PublicKey) bool) ([]byte, error) {
	socket := os.Getenv(AgentVariable)
	if socket == "" {
		return nil, fmt.Errorf("no key to sign with: --sign names none, and no agent is there (%s)", AgentVariable)
	}
	conn, err := net.DialTimeout("unix", socket, 5*time.Second)
	if err != nil {
		return nil, fmt.Errorf("the agent does not answer: %w", err)
	}
	defer conn.Close()
	keys, err := agent.NewClient(conn).Signers()
	if err != nil {
		return nil, fmt.Errorf("the agent tells no keys: %w", err)
	}
	for _, key := range keys {
		if fits == nil || fits(key.PublicKey()) {
			return sign(message, key, namespace)
		}
	}
	return nil, fmt.Errorf("the agent has %d keys, and none of them may sign for %s", len(keys), namespace)
}

func sign(message io.ReadSeeker, signer ssh.Signer, namespace string) ([]byte, error) {
	if a, ok := signer.(ssh.AlgorithmSigner); ok && signer.PublicKey().Type() == ssh.KeyAlgoRSA {
		var err error
		if signer, err = ssh.NewSignerWithAlgorithms(a, []string{ssh.KeyAlgoRSASHA512}); err != nil {
			return nil, err
		}
	}
	if _, err := message.Seek(0, io.SeekStart); err != nil {
		return nil, err
	}
	s, err := sshsig.Sign(message, signer, sshsig.HashSHA512, namespace)
	if err != nil {
		return nil, err
	}
	return sshsig.Armor(s), nil
}

// byProgram has ssh-keygen sign.
func (k Key) byProgram(ctx context.Context, message io.ReadSeeker, namespace string) ([]byte, error) {
	if _, err := message.Seek(0, io.SeekStart); err != nil {
		return nil, err
	}
	var signature bytes.Buffer
	cmd := exec.CommandContext(ctx, "ssh-keygen", "-q", "-Y", "sign", "-f", k.File, "-n", namespace)
	cmd.Stdin, cmd.Stdout, cmd.Stderr = message, &signature, k.Prompts
	if err := cmd.Run(); err != nil {
		return nil, fmt.Errorf("ssh-keygen: %w", err)
	}
	return signature.Bytes(), nil
}

// Names reports whether a line names a key that may sign for a namespace now, or a certificate that may.
func (l *List) Names(key ssh.PublicKey, namespace string, now time.Time) bool {
	for _, x := range l.lines {
		if _, err := x.allows(key, namespace, now); err == nil {
			return true
		}
	}
	return false
}

var errCanonical = errors.New("the signature has not the form that ssh-keygen gives it")

// Canonical reports an error if the text of a signature could be written in another way without being
// another signature, but for where its lines end.
func Canonical(signature []byte) error {
	sig, err := sshsig.Unarmor(signature)
	if err != nil {
		return errors.New("the signature is none that ssh-keygen -Y sign makes")
	}
	one, other := strings.ReplaceAll(string(sshsig.Armor(sig)), "\n", ""), strings.ReplaceAll(string(signature), "\n", "")
	if one != other {
		return errCanonical
	}
	return nil
}

// Len returns how many keys a list has.
func (l *List) Len() int { return len(l.lines) }
