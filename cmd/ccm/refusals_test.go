package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// refusalRepositories makes repositories of modules, and a site without modules.
const refusalRepositories = `
export CCM_CACHE_DIR=$PWD/cache XDG_CONFIG_HOME=$PWD/config GIT_CONFIG_GLOBAL=/dev/null GIT_CONFIG_SYSTEM=/dev/null
export GIT_AUTHOR_NAME=ann GIT_AUTHOR_EMAIL=ann@example.org GIT_COMMITTER_NAME=ann GIT_COMMITTER_EMAIL=ann@example.org
release() { # NAME VERSION DEPENDENCY CAPABILITY: a module that runs a command if it is called
  git init -q $1 2>/dev/null
  echo "return { name = '$1', exports = { '$1' }, dependencies = { $3 }, capabilities = { $4 } }" > $1/ccm.mod.lua
  echo "return function() return capture { 'echo', '$2' } end" > $1/$1.lua
  git -C $1 add -A && git -C $1 commit -q --allow-empty -m $2 && git -C $1 tag -f $2 >/dev/null
}
on() { echo "base = { version = 'v1.0.0', git = 'file://$PWD/$1' }"; }
uses() { (cd site && realccm mod init >/dev/null && for m; do realccm mod get file://$OLDPWD/$m >/dev/null 2>&1; done); }
mkdir site; : > site/site.lua
`

// refusalBundle makes a signed bundle of a site.
const refusalBundle = refusalRepositories + `
ssh-keygen -q -t ed25519 -N '' -C ann -f key
printf 'ann namespaces="ccm-bundle" %s\n' "$(cat key.pub)" > signers
echo 'print(1)' > site/site.lua
realccm bundle site --sign key >/dev/null 2>&1
`

// refusalSecret encrypts a value of a site.
const refusalSecret = refusalRepositories + `
export CCM_AGE_IDENTITY_FILE=$PWD/id
realccm secret keygen -o id > pub; cd site
realccm secret recipients add ann ../pub >/dev/null
printf 'data:\n  pw: hunter2-correct\n' > data.yaml
realccm secret encrypt data.yaml --key data.pw >/dev/null 2>&1
echo 'data.load "data.yaml" print(data.pw)' > site.lua
`

// refusals has a case for each row in the tables of messages about sharing: a shell script whose last command is
// refused with that message.
var refusals = map[string]string{
	"files of ... are neither in ... nor in the cache": refusalRepositories + `
		release nginx v1.0.0; uses nginx; echo 'require "nginx"' > site/site.lua
		CCM_CACHE_DIR=$PWD/other realccm plan site/site.lua`,
	"does not match the lock file": refusalRepositories + `
		release nginx v1.0.0; uses nginx; echo 'require "nginx"' > site/site.lua
		cd site; realccm mod vendor >/dev/null; chmod -R u+w vendor; echo >> vendor/nginx/nginx.lua
		realccm plan site.lua`,
	"requires nginx v1.3.0, but ccm.lock has v1.2.0": refusalRepositories + `
		release nginx v1.2.0; uses nginx; sed -i s/v1.2.0/v1.3.0/ site/ccm.mod.lua
		echo 'require "nginx"' > site/site.lua; realccm plan site/site.lua`,
	"lock file was edited by hand or is damaged": refusalRepositories + `
		release nginx v1.0.0; uses nginx; sed -i s/v1.0.0/v1.0.1/ site/ccm.lock
		echo 'require "nginx"' > site/site.lua; realccm plan site/site.lua`,
	"lock file contains hash ..., but ... now has ...": refusalRepositories + `
		release nginx v1.0.0; uses nginx; echo >> nginx/ccm.mod.lua; release nginx v1.0.0 '' "'http'"
		cd site; CCM_CACHE_DIR=$PWD/other realccm mod get`,
	"is not a dependency of the site, but of web": refusalRepositories + `
		release base v1.0.0; release web v1.0.0 "$(on base)"; uses web
		echo 'require "base"' > site/site.lua; realccm plan site/site.lua`,
	"does not declare capability": refusalRepositories + `
		release nginx v1.0.0; uses nginx; echo 'require("nginx")()' > site/site.lua; realccm plan site/site.lua`,
	"the site does not allow it capability": refusalRepositories + `
		release nginx v1.0.0 '' "'capture'"; uses nginx; echo 'require("nginx")()' > site/site.lua; realccm plan site/site.lua`,
	"requires base from ..., but ... from ...": refusalRepositories + `
		release base v1.0.0; git clone -q base other; release web v1.0.0 "$(on base)"; release api v1.0.0 "$(on other)"
		uses web; cd site; realccm mod get file://$OLDPWD/api`,

	"expected the SHA-256 ..., got":  refusalBundle + `realccm plan site.tar.gz --sha256 $(printf %064d 0)`,
	"--signers requires a signature": refusalBundle + `rm site.tar.gz.sig; realccm plan site.tar.gz --signers signers`,
	"signing key ... is not allowed": refusalBundle + `
		sed -i 's/ccm-bundle/git/' signers; realccm plan site.tar.gz --signers signers`,
	"signature does not match the content": refusalBundle + `
		echo 'print(2)' > site/site.lua; realccm bundle site >/dev/null 2>&1; realccm plan site.tar.gz --signers signers`,
	"bundle is truncated": refusalBundle + `head -c 60 site.tar.gz > cut.tar.gz; realccm plan cut.tar.gz`,

	"no identity on this machine can decrypt it; its recipients are": refusalSecret + `
		realccm secret keygen -o wrong >/dev/null; CCM_AGE_IDENTITY_FILE=wrong realccm plan site.lua`,
	"moved after encryption: encrypted for": refusalSecret + `
		sed -i 's/pw:/pass:/' data.yaml; sed -i s/data.pw/data.pass/ site.lua; realccm plan site.lua`,
	"recipients does not exist here or in a parent directory": refusalRepositories + `cd site; echo hush > key; realccm secret encrypt key`,
}

// TestRefusalsOfSharing makes ccm print every message about sharing in the documentation. A row without a case fails,
// and so does a case without a row.
func TestRefusalsOfSharing(t *testing.T) {
	t.Parallel()
	for _, program := range []string{"git", "ssh-keygen"} {
		if _, err := exec.LookPath(program); err != nil {
			t.Skip("there is no " + program)
		}
	}
	found := make(map[string]bool)
	for page, heading := range map[string]string{"modules.md": "\n### Messages\n", "errors.md": "\n### Bundles, modules and secrets\n"} {
		text, err := os.ReadFile(filepath.Join("../../docs", page))
		require.NoError(t, err)
		_, part, ok := strings.Cut(string(text), heading)
		require.True(t, ok, "%s has no %q", page, heading)
		part, _, _ = strings.Cut(part, "\n#")
		rows := regexp.MustCompile("(?m)^\\| `([^`]+)`").FindAllStringSubmatch(part, -1)
		require.NotEmpty(t, rows, page)
		for _, m := range rows {
			found[m[1]] = true
			require.Contains(t, refusals, m[1], "%s: the row has no case", page)
		}
	}
	for message, script := range refusals {
		require.True(t, found[message], "no page has the row %q", message)
		t.Run(message, func(t *testing.T) {
			t.Parallel()
			s := newShell(t)
			t.Cleanup(func() { _ = exec.Command("chmod", "-R", "u+w", s.dir).Run() })
			cmd := exec.Command("sh", "-c", script)
			cmd.Dir, cmd.Env = s.dir, s.env
			out, err := cmd.CombinedOutput()
			require.Error(t, err, "%s", out)
			require.Equal(t, 1, cmd.ProcessState.ExitCode(), "%s", out)
			for part := range strings.SplitSeq(message, "...") {
				require.Contains(t, string(out), strings.TrimSpace(part))
			}
			require.NotContains(t, string(out), "hunter2")
		})
	}
}
