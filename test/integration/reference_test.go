//go:build integration

package integration

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/rogpeppe/go-internal/txtar"
	"github.com/stretchr/testify/require"

	"github.com/luaccm/ccm/docs"
	"github.com/luaccm/ccm/docs/markdown"
)

// TestReferenceExamples runs the examples of the reference whose types use tools of the system; TestReferencePages
// (cmd/ccm) runs the others on an imagined machine. A second run has nothing to do.
func TestReferenceExamples(t *testing.T) {
	l := boot(t, debian)
	l.bringGit()
	for _, example := range []struct{ typ, machine string }{
		{"git", `
			git config --global user.name it; git config --global user.email it@example.org
			git init -q --bare -b main /srv/repo.git
			git init -q -b main /srv/work; cd /srv/work; git remote add origin /srv/repo.git
			touch version; git add version; git commit -q -m one; git tag -a -m one v1.4; git push -q origin main v1.4
			git config --system url./srv/repo.git.insteadOf https://git.example.org/app.git`},
		{"alternative", `
			mkdir -p /opt/jdk/bin
			for f in /opt/jdk/bin/java /usr/bin/vim.tiny /bin/nano /usr/bin/less /bin/more; do
				[ -e $f ] || printf '#!/bin/sh\n' > $f; chmod +x $f
			done
			update-alternatives --install /usr/bin/editor editor /bin/nano 40
			update-alternatives --install /usr/bin/editor editor /usr/bin/vim.tiny 15
			update-alternatives --install /usr/bin/pager pager /bin/more 50
			update-alternatives --install /usr/bin/pager pager /usr/bin/less 77
			update-alternatives --set pager /bin/more`},
		{"directory", `
			rm -rf /srv/app; useradd --system app
			mkdir -p /etc/nginx/conf.d; touch /etc/nginx/conf.d/old.conf /etc/nginx/conf.d/local-1.conf`},
		{"group", `useradd alice; useradd bob; groupadd wheel; usermod -aG wheel bob`},
		{"timer", `printf '#!/bin/sh\n' > /usr/local/bin/backup; chmod +x /usr/local/bin/backup`},
		{"unit", `
			mkdir -p /opt/app/bin; printf '#!/bin/sh\nexec sleep infinity\n' > /opt/app/bin/app; chmod +x /opt/app/bin/app
			printf '[Service]\nExecStart=/bin/sleep infinity\n' > /etc/systemd/system/nginx.service; systemctl daemon-reload`},
		{"user", `useradd nobody-needs-this`},
		{"wait_for", `mkdir -p /run/app; touch /run/app/app.sock /run/app/ready`},
	} {
		t.Run(example.typ, func(t *testing.T) {
			at := "/root/" + example.typ + "/"
			l.sh("mkdir -p " + at)
			l.sh(example.machine)
			l.write(at+"site.lua", []byte(exampleOf(t, example.typ)))
			archive, err := os.ReadFile(filepath.Join("../../docs/reference/examples", example.typ+".txtar"))
			if !os.IsNotExist(err) {
				require.NoError(t, err)
			}
			for _, f := range txtar.Parse(archive).Files {
				if strings.HasPrefix(f.Name, "files/") {
					l.sh("mkdir -p " + at + filepath.Dir(f.Name))
					l.write(at+f.Name, f.Data)
				}
			}
			out := l.exec("/opt/ccm/ccm", "run", at+"site.lua")
			require.Zero(t, out.status, out.stdout+out.stderr)
			out = l.exec("/opt/ccm/ccm", "run", at+"site.lua")
			require.Contains(t, out.stdout, "Nothing to do", out.stderr)
		})
	}
}

// exampleOf returns the script on the page of a type.
func exampleOf(t *testing.T, typ string) string {
	for _, b := range markdown.Parse(docs.Text("reference/types/" + typ)).Blocks() {
		if b.Language == "lua" {
			return b.Code
		}
	}
	t.Fatalf("the page of %s has no example", typ)
	return ""
}
