package fleet

import (
	"cmp"
	"os"

	"github.com/spf13/pflag"

	"github.com/luaccm/ccm/cmd/ccm/cli"
	"github.com/luaccm/ccm/fleet/cluster"
	"github.com/luaccm/ccm/fleet/job"
	"github.com/luaccm/ccm/runtime/signers"
)

// signVariable names the key with which operators sign if --sign does not.
const signVariable = "CCM_SIGN"

// signFlags say with which key something is signed.
type signFlags struct{ key string }

func (f *signFlags) add(fs *pflag.FlagSet) {
	fs.StringVar(&f.key, "sign", "", "sign with the SSH `KEY` in this file, private or public (default "+signVariable+", else the first key of ssh-agent)")
}

// sender returns what sends jobs to an environment.
func (f *signFlags) sender(e *cli.Env, c *cluster.Cluster, environment string) *job.Sender {
	return &job.Sender{NC: c.Conn, Environment: environment, Key: f.signer(e), By: c.Directory.Fleet.User, Clock: e.Clock.Now}
}

// signer returns the key.
func (f *signFlags) signer(e *cli.Env) signers.Key {
	return signers.Key{File: cmp.Or(f.key, os.Getenv(signVariable)), Prompts: cli.NewAsideWriter(e)}
}
