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

	"github.com/luaccm/ccm/runtime/diag"
)

// AgentVariable has the socket of the SSH agent (ssh-agent(1)).
const AgentVariable = "SSH_AUTH_SOCK"

// A Key is a private SSH key to sign with.
type Key struct {
	// File has the private or public key, as for the option -f of ssh-keygen -Y sign; "" means a key of the agent.
	File string
	// May reports whether a key of the agent may sign. Nil accepts any key.
	May func(ssh.PublicKey) bool
	// Prompts receives prompts of ssh-keygen, such as to touch a hardware key.
	Prompts io.Writer
}

// Sign returns the armored SSH signature of a message in a namespace. A private key without a passphrase in File is
// used directly. Otherwise the agent signs if it has the key, else ssh-keygen, which asks for passphrases and knows
// hardware keys.
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
			return nil, diag.None("key to sign with: file %s does not exist", k.File)
		}
	}
	if err != nil {
		return k.byProgram(ctx, message, namespace) // ssh-keygen reports what is wrong with the file
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

// publicKey returns the public key in a file, or in the .pub file beside it.
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
		return nil, diag.None("key to sign with: neither --sign nor an SSH agent is available (%s)", AgentVariable)
	}
	conn, err := net.DialTimeout("unix", socket, 5*time.Second)
	if err != nil {
		return nil, fmt.Errorf("SSH agent does not respond: %w", err)
	}
	defer conn.Close()
	keys, err := agent.NewClient(conn).Signers()
	if err != nil {
		return nil, diag.Cannot("list keys of", "the SSH agent", err)
	}
	for _, key := range keys {
		if fits == nil || fits(key.PublicKey()) {
			return sign(message, key, namespace)
		}
	}
	return nil, diag.None("key of the %d in the SSH agent may sign for %s", len(keys), namespace)
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

// byProgram signs with ssh-keygen.
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

// Names reports whether a key, or a certificate, may sign in a namespace now.
func (l *List) Names(key ssh.PublicKey, namespace string, now time.Time) bool {
	for _, x := range l.lines {
		if _, err := x.allows(key, namespace, now); err == nil {
			return true
		}
	}
	return false
}

var errCanonical = diag.Not("", "a signature of ssh-keygen")

// Canonical returns an error if a signature has another encoding than Sign gives it. Only the ends of lines may
// differ.
func Canonical(signature []byte) error {
	sig, err := sshsig.Unarmor(signature)
	if err != nil {
		return diag.Not("", "a signature of ssh-keygen -Y sign")
	}
	one, other := strings.ReplaceAll(string(sshsig.Armor(sig)), "\n", ""), strings.ReplaceAll(string(signature), "\n", "")
	if one != other {
		return errCanonical
	}
	return nil
}

// Len returns the number of keys.
func (l *List) Len() int { return len(l.lines) }
