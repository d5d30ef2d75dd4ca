package main

import (
	"cmp"
	"os"

	"github.com/spf13/pflag"

	"github.com/luaccm/ccm/runtime/signers"
)

// signVariable names the key with which operators sign if --sign does not.
const signVariable = "CCM_SIGN"

// signFlags say with which key something is signed.
type signFlags struct{ key string }

func (f *signFlags) add(fs *pflag.FlagSet) {
	fs.StringVar(&f.key, "sign", "", "sign with the SSH `KEY` in this file, private or public (default "+signVariable+", else the first key of ssh-agent)")
}

// signer returns the key.
func (f *signFlags) signer(e *env) signers.Key {
	return signers.Key{File: cmp.Or(f.key, os.Getenv(signVariable)), Said: asideWriter{e.stderr}}
}
