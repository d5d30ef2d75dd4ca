package identity

import (
	"encoding/json"
	"errors"
	"io/fs"
	"os"
	"strings"

	"github.com/nats-io/jwt/v2"
	"github.com/nats-io/nkeys"
)

// planOperator plans the JWTs of the operator and the system account.
func (p *planner) planOperator(operator, accounts, system nkeys.KeyPair) (operatorJWT, systemJWT string, err error) {
	operatorJWT = p.text(operatorFile)
	if operatorJWT == "" {
		c := jwt.NewOperatorClaims(public(operator))
		c.Name, c.SystemAccount = "ccm-fleet", public(system)
		c.SigningKeys.Add(public(accounts))
		if operatorJWT, err = c.Encode(operator); err != nil {
			return "", "", err
		}
		p.put(operatorFile, []byte(operatorJWT+"\n"), 0o644, "the operator that the servers trust")
	}
	systemJWT = p.text(systemFile)
	if systemJWT == "" {
		c := jwt.NewAccountClaims(public(system))
		c.Name = "SYS"
		if systemJWT, err = c.Encode(accounts); err != nil {
			return "", "", err
		}
		p.put(systemFile, []byte(systemJWT+"\n"), 0o644, "the system account")
	}
	return operatorJWT, systemJWT, nil
}

func (p *planner) text(name string) string {
	text, _ := os.ReadFile(p.Directory.file(name)) // a missing file is made
	return strings.TrimSpace(string(text))
}

// planAccount plans the JWT of the account, with its present revocations.
func (p *planner) planAccount(keys map[Role][]string, signer nkeys.KeyPair) (string, error) {
	have, text, err := p.Directory.account()
	var revoked jwt.RevocationList
	switch {
	case err == nil:
		revoked = have.Revocations
	case !errors.Is(err, fs.ErrNotExist):
		return "", err
	}
	want := p.Directory.Fleet.accountClaims(keys, revoked)
	if have != nil && sameAccount(have, want) {
		return text, nil
	}
	token, err := want.Encode(signer)
	if err != nil {
		return "", err
	}
	p.put(accountFile, []byte(token+"\n"), 0o644, "the account: permissions of all roles")
	return token, nil
}

// sameAccount reports whether two JWTs of an account have the same content.
func sameAccount(a, b *jwt.AccountClaims) bool {
	one, err1 := json.Marshal(a.Account)
	// Some fields get their values only by encoding, so the new JWT is encoded and decoded, too.
	two, err2 := json.Marshal(normal(b))
	return err1 == nil && err2 == nil && string(one) == string(two)
}

func normal(c *jwt.AccountClaims) jwt.Account {
	pair, err := nkeys.CreateOperator()
	if err != nil {
		return c.Account
	}
	token, err := c.Encode(pair)
	if err != nil {
		return c.Account
	}
	back, err := jwt.DecodeAccountClaims(token)
	if err != nil {
		return c.Account
	}
	return back.Account
}

// planUsers plans the credentials of the first operator, of new machines, and of the system account.
func (p *planner) planUsers(signers map[Role]nkeys.KeyPair, system nkeys.KeyPair) error {
	f := &p.Directory.Fleet
	for _, u := range []struct {
		file, name, reason string
		signer             nkeys.KeyPair
	}{
		{OperatorCreds, f.User, `for you: nats context "ccm-fleet"`, signers[Admin]},
		{EnrolCreds, "enrol", "for new machines; allows enrolment requests only", signers[Enrol]},
		{systemCreds, "system", "uploads the account to the servers", nil},
	} {
		if _, err := os.Lstat(p.Directory.file(u.file)); err == nil {
			continue
		}
		var creds []byte
		var err error
		if u.signer != nil {
			creds, _, err = f.newUser(u.name, u.signer)
		} else {
			creds, err = systemUser(system)
		}
		if err != nil {
			return err
		}
		p.put(u.file, creds, 0o600, u.reason)
	}
	return nil
}

// systemUser makes credentials for the system account, signed by its key without a scope.
func systemUser(system nkeys.KeyPair) ([]byte, error) {
	pair, err := nkeys.CreateUser()
	if err != nil {
		return nil, err
	}
	c := jwt.NewUserClaims(public(pair))
	c.Name = "ccm-fleet"
	c.Pub.Allow.Add("$SYS.REQ.>")
	c.Sub.Allow.Add("_INBOX.>")
	token, err := c.Encode(system)
	if err != nil {
		return nil, err
	}
	return Credentials(token, pair)
}
