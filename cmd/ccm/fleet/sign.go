package fleet

import (
	"cmp"
	"context"
	"os"

	"github.com/spf13/pflag"

	"github.com/luaccm/ccm/cmd/ccm/cli"
	"github.com/luaccm/ccm/fleet/cluster"
	"github.com/luaccm/ccm/fleet/identity"
	"github.com/luaccm/ccm/fleet/job"
	"github.com/luaccm/ccm/fleet/release"
	"github.com/luaccm/ccm/runtime/signers"
)

// signVariable names the key with which operators sign if --sign does not.
const signVariable = "CCM_SIGN"

// signFlags are the flags that choose the key for signatures.
type signFlags struct{ key string }

func (f *signFlags) add(fs *pflag.FlagSet) {
	fs.StringVar(&f.key, "sign", "", "file with the SSH `KEY` to sign with (default "+signVariable+" or ssh-agent's first)")
}

// sender returns the sender of jobs to an environment.
func (f *signFlags) sender(e *cli.Env, c *cluster.Cluster, environment string) (*job.Sender, error) {
	store, err := release.Open(c, environment, e.Clock.Now)
	if err != nil {
		return nil, err
	}
	return &job.Sender{NC: c.Conn, Environment: environment, Key: f.signer(e), By: c.Directory.Fleet.User, Clock: e.Clock.Now, Book: store.Book}, nil
}

// others returns the keys of further signers.
func others(e *cli.Env, files []string) (keys []signers.Key) {
	for _, file := range files {
		keys = append(keys, signers.Key{File: file, Prompts: cli.NewMessageWriter(e)})
	}
	return keys
}

// alsoSign adds the flag for the keys of further signers.
func alsoSign(fs *pflag.FlagSet, files *[]string) {
	fs.StringArrayVar(files, "also-sign", nil, "additional `KEY` to sign with (repeatable)")
}

// sayTooFew warns if there are fewer signatures than necessary. It prevents nothing, because the
// signers on the servers may come from somebody else.
func sayTooFew(ctx context.Context, e *cli.Env, c *release.Controller, others []string) error {
	want, err := c.Threshold(ctx)
	if have := 1 + len(others); err == nil && have < want {
		cli.Say(e, "! %d signatures required, %d given: nodes will refuse it. Add another with --also-sign KEY.", want, have)
	}
	return err
}

// signer returns the key.
func (f *signFlags) signer(e *cli.Env) signers.Key {
	return signers.Key{File: cmp.Or(f.key, os.Getenv(signVariable)), Prompts: cli.NewMessageWriter(e)}
}

// signersHint says how to name the signers who are believed.
const signersHint = "Set the trusted signers with ccm fleet init DIR --signers FILE, or " + identity.SignersFile + " in the fleet directory."

// sayUnknownSigners warns that what is signed now follows from documents on the servers that anybody
// may have signed.
func sayUnknownSigners(e *cli.Env, c *release.Controller) {
	if c.Store.Book.IsEmpty() {
		cli.Say(e, "! Signatures on the servers' documents are not verified.")
		cli.Say(e, "  "+signersHint)
	}
}
