package agent

import (
	"path/filepath"

	"github.com/luaccm/ccm/cmd/ccm/cli"
	"github.com/luaccm/ccm/fleet/agent"
	"github.com/luaccm/ccm/fleet/node"
	"github.com/luaccm/ccm/runtime/facts"
	"github.com/luaccm/ccm/runtime/state"
)

// Defaults of a node of a fleet.
const (
	nodeCredentials = "/etc/ccm/fleet/node.creds"
	nodeSigners     = "/etc/ccm/fleet/allowed_signers"
)

// newFleetNode returns the node of a fleet that an agent is, as the configuration says.
func newFleetNode(e *cli.Env, c *agent.FleetConfig, cacheDir string, a *agent.Agent, o agent.Options) (agent.Fleet, error) {
	signers, credentials := c.Signers, c.Credentials
	if signers == "" {
		signers = nodeSigners
	}
	if credentials == "" {
		credentials = nodeCredentials
	}
	text, err := e.Files.ReadFile(signers)
	if err != nil {
		return nil, err
	}
	for _, file := range []string{credentials, c.CA} {
		if file == "" {
			continue
		}
		if _, err := e.Files.ReadFile(file); err != nil { // reports a file that is not trusted
			return nil, err
		}
	}
	bundles, err := a.BundleStore("fleet")
	if err != nil {
		return nil, err
	}
	return node.New(node.Options{
		Servers: c.Servers, CA: c.CA, Credentials: credentials, SignersText: string(text), SignersFile: signers,
		Labels: c.Labels, StableFacts: facts.WithoutVolatile,
		RevokedAfter: c.RevokedAfter, StrictIdentity: c.StrictIdentity, Threshold: c.Threshold,
		Directory: filepath.Join(cacheDir, "fleet"), Runs: filepath.Join(state.Dir(""), "runs"),
		Version: o.Version, BuildTime: e.Build.Built(), Clock: o.Clock.Now, Log: o.Log, Host: cli.Machine(e),
	}, a, bundles)
}
