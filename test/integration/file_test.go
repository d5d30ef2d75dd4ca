//go:build integration

package integration

import "testing"

func TestFile(t *testing.T) {
	l := boot(t, debian)
	l.sh("mkdir -p /srv/old/below; touch /srv/old/below/file")
	does := func(lines ...string) {
		t.Helper()
		for i, path := range []string{"/srv/shared", "/srv/shared/key", "/srv/copy", "/srv/once", "/srv/old"} {
			lines[i] = "file#" + path + ": " + lines[i]
		}
		l.converge(step{site: "file/site.lua", does: lines})
	}
	const listing = "cd /srv; stat -c '%n %U:%G %a' shared shared/key copy once; cat shared/key copy once; ! test -e old"
	const wanted = "shared games:daemon 750\nshared/key games:daemon 640\ncopy root:root 444\nonce root:root 644\nsecret\noriginal\nfirst"
	does("Created directory", "Created the file", "Created the file", "Created the file", "Removed the directory")
	l.says(wanted, listing)

	l.sh("cd /srv; chmod 777 shared; chown root shared/key; echo more >> copy; echo mine > once; ln -s /etc old")
	does("Updated attributes", "Updated attributes", "Updated the file", "stable", "Removed the symbolic link")
	l.sh("echo first > /srv/once; test -e /etc/passwd")
	l.says(wanted, listing)
}
