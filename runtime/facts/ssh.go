package facts

import (
	"context"
	"crypto/sha256"
	"encoding/base64"
	"strings"

	"github.com/luaccm/ccm/runtime/host"
)

// gatherSSH reads the public keys of the SSH server, by the algorithm in the names of their files.
func gatherSSH(_ context.Context, v *host.View) (any, error) {
	const dir, before, after = "/etc/ssh", "ssh_host_", "_key.pub"
	in := installed(v)
	names, err := in.ReadDir(dir)
	if missing(err) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	branch := make(map[string]any)
	for _, name := range names {
		algorithm, ok := strings.CutPrefix(name, before)
		if !ok {
			continue
		}
		if algorithm, ok = strings.CutSuffix(algorithm, after); !ok || algorithm == "" {
			continue
		}
		text, err := readText(in, dir+"/"+name)
		if err != nil {
			return nil, err
		}
		fields := strings.Fields(text)
		if len(fields) < 2 {
			continue
		}
		key, err := base64.StdEncoding.DecodeString(fields[1])
		if err != nil {
			continue // not a key
		}
		sum := sha256.Sum256(key)
		branch[algorithm] = map[string]any{
			"type": fields[0], "key": fields[1],
			"fingerprint": "SHA256:" + base64.RawStdEncoding.EncodeToString(sum[:]),
		}
	}
	if len(branch) == 0 {
		return nil, nil
	}
	return branch, nil
}
