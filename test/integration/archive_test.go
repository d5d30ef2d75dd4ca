//go:build integration

package integration

import (
	"archive/tar"
	"archive/zip"
	"bytes"
	"compress/gzip"
	"crypto/sha256"
	"encoding/hex"
	"io"
	"io/fs"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// An entry is an entry of an archive: a file, or a link to link.
type entry struct {
	name, text, link string
	mode             int64
}

// release returns an application as its makers pack it.
func release(version string) []entry {
	return []entry{
		{name: "bin/app", text: "#!/bin/sh\necho " + version + " >> /run/app.log\nexec sleep infinity\n", mode: 0o755},
		{name: "share/notes.txt", text: "version " + version + "\n", mode: 0o640},
		{name: "bin/latest", link: "app"},
	}
}

func tarball(t *testing.T, entries []entry) []byte {
	var b bytes.Buffer
	w := tar.NewWriter(&b)
	for _, e := range entries {
		h := &tar.Header{Name: e.name, Mode: e.mode, Size: int64(len(e.text)), Typeflag: tar.TypeReg}
		if e.link != "" {
			h.Typeflag, h.Linkname = tar.TypeSymlink, e.link
		}
		require.NoError(t, w.WriteHeader(h))
		_, err := io.WriteString(w, e.text)
		require.NoError(t, err)
	}
	require.NoError(t, w.Close())
	return b.Bytes()
}

func gzipped(t *testing.T, data []byte) []byte {
	var b bytes.Buffer
	w := gzip.NewWriter(&b)
	_, err := w.Write(data)
	require.NoError(t, err)
	require.NoError(t, w.Close())
	return b.Bytes()
}

func zipped(t *testing.T, entries []entry) []byte {
	var b bytes.Buffer
	w := zip.NewWriter(&b)
	for _, e := range entries {
		h, text := &zip.FileHeader{Name: e.name, Method: zip.Deflate}, e.text
		h.SetMode(fs.FileMode(e.mode))
		if e.link != "" {
			h.SetMode(0o777 | fs.ModeSymlink)
			text = e.link
		}
		f, err := w.CreateHeader(h)
		require.NoError(t, err)
		_, err = io.WriteString(f, text)
		require.NoError(t, err)
	}
	require.NoError(t, w.Close())
	return b.Bytes()
}

func sum(data []byte) string {
	s := sha256.Sum256(data)
	return hex.EncodeToString(s[:])
}

// serve starts the web server in the lab.
func (l *lab) serve() {
	l.t.Helper()
	l.sh(`mkdir -p /srv/www/private; cp /opt/ccm/server /usr/local/lib/server
printf '[Service]\nType=notify\nExecStart=/usr/local/lib/server /srv/www /run/www.log\n[Install]\nWantedBy=multi-user.target\n' \
	> /etc/systemd/system/www.service
systemctl daemon-reload; systemctl -q enable --now www`)
}

// requests returns the requests to the server since the last call.
func (l *lab) requests() []string {
	l.t.Helper()
	return strings.Fields(strings.ReplaceAll(l.sh("touch /run/www.log; cat /run/www.log; : > /run/www.log"), " ", "_"))
}

func TestArchive(t *testing.T) {
	l := boot(t, debian)
	l.serve()
	one, two := gzipped(t, tarball(t, release("1.0"))), gzipped(t, tarball(t, release("2.0")))
	l.write("/srv/www/app.tar.gz", one)

	const dir, app, unit, service = "file#/opt/app", "archive#/opt/app.tar.gz", "file#/etc/systemd/system/app.service", "service#app"
	s := step{
		site: "archive/app.lua " + sum(one),
		does: []string{dir + ": Created directory", app + ": Downloaded. Extracted. Cleaned up", unit + ": Created the file", service + ": Started. Enabled"},
	}
	l.converge(s)
	require.Equal(t, []string{"127.0.0.1:8080/app.tar.gz_200"}, l.requests(), "it is fetched once, and not at all in a plan")
	l.says("1.0", "cat /run/app.log")
	l.says("755 640 app", "echo $(stat -c %a /opt/app/bin/app /opt/app/share/notes.txt) $(readlink /opt/app/bin/latest)")
	l.sh("! test -e /opt/app.tar.gz; test -z \"$(ls -A /opt | grep -v -e ccm -e app)\"")

	// The created path exists, so the server's new archive is not needed.
	l.write("/srv/www/app.tar.gz", two)
	l.converge(step{site: "archive/app.lua " + sum(two), does: []string{dir + ": stable", app + ": stable", unit + ": stable", service + ": stable"}})
	require.Empty(t, l.requests())

	// The archive's path is taken by another file, although the created path exists.
	l.sh("touch /opt/app.tar.gz")
	l.converge(step{site: "archive/app.lua " + sum(two), does: []string{dir + ": stable", app + ": Cleaned up", unit + ": stable", service + ": stable"}})
	require.Empty(t, l.requests())
}

func TestArchiveKept(t *testing.T) {
	l := boot(t, debian)
	l.serve()
	one, two := gzipped(t, tarball(t, release("1.0"))), gzipped(t, tarball(t, release("2.0")))
	l.write("/srv/www/app.tar.gz", one)
	does := func(args, what string) {
		t.Helper()
		l.converge(step{site: "archive/kept.lua " + args, does: []string{"archive#/srv/kept.tar.gz: " + what}})
	}
	does(sum(one), "Downloaded. Extracted")
	l.says("640 root root", "stat -c '%a %U %G' /srv/kept.tar.gz")
	l.says(sum(one), "sha256sum < /srv/kept.tar.gz | cut -d' ' -f1")
	l.says("version 1.0", "cat /srv/kept/share/notes.txt")
	require.Len(t, l.requests(), 1)

	// Another release replaces it.
	l.write("/srv/www/app.tar.gz", two)
	does(sum(two), "Downloaded. Extracted")
	l.says("version 2.0", "cat /srv/kept/share/notes.txt")
	require.Len(t, l.requests(), 1)

	// The right content with the wrong owner need not be downloaded again.
	does(sum(two)+" games", "Updated attributes")
	l.says("games", "stat -c %U /srv/kept.tar.gz")
	require.Empty(t, l.requests())

	// The archive was changed.
	l.sh("echo more >> /srv/kept.tar.gz")
	does(sum(two)+" games", "Downloaded. Extracted")
	require.Len(t, l.requests(), 1)

	l.converge(step{site: "archive/absent.lua", does: []string{"archive#/srv/kept.tar.gz: Removed"}})
	l.sh("! test -e /srv/kept.tar.gz; test -e /srv/kept/share/notes.txt")
}

func TestArchiveFormats(t *testing.T) {
	l := boot(t, rhel) // a system without tar and unzip
	l.serve()
	l.sh("rm /usr/bin/tar /usr/bin/unzip /usr/bin/gzip")
	entries := release("1.0")
	l.write("/srv/www/app.tar", tarball(t, entries))
	l.write("/srv/www/app.tar.gz", gzipped(t, tarball(t, entries)))
	l.write("/srv/www/app.zip", zipped(t, entries))
	s := step{site: "archive/formats.lua", does: []string{"file#/srv/formats: Created directory"}}
	for _, name := range []string{"app.tar.gz", "app.tgz", "plain.tar", "app.zip"} {
		s.does = append(s.does, "archive#/srv/formats/"+name+": Downloaded. Extracted")
	}
	l.converge(s)
	for _, name := range []string{"app.tar.gz", "app.tgz", "plain.tar", "app.zip"} {
		l.says("755 640 app", "cd /srv/formats/"+name+".d; echo $(stat -c %a bin/app share/notes.txt) $(readlink bin/latest)")
		l.says("version 1.0", "cat /srv/formats/"+name+".d/share/notes.txt")
	}
}

// Credentials of a download are sent to its server only, and are never reported.
func TestArchivePrivate(t *testing.T) {
	l := boot(t, debian)
	l.serve()
	data := gzipped(t, tarball(t, release("1.0")))
	l.write("/srv/www/private/app.tar.gz", data)
	l.write("/srv/www/app.tar.gz", data)
	const id = "archive#/srv/private.tar.gz"
	told := func(v ...verdict) {
		t.Helper()
		for _, v := range v {
			for _, secret := range []string{"pa55-word", "wrong-word", "t0ken-value", "ZGVwbG95OnBhNTUtd29yZA=="} {
				require.NotContains(t, v.String(), secret)
			}
		}
	}
	s := step{site: "archive/private.lua private/app.tar.gz", does: []string{id + ": Downloaded"}, flags: []string{"--debug"}}
	told(l.converge(s))
	require.Equal(t, []string{"127.0.0.1:8080/private/app.tar.gz_200_with_credentials"}, l.requests())
	l.sh("rm /srv/private.tar.gz")

	told(l.converge(step{
		site: "archive/private.lua private/app.tar.gz wrong-word", does: []string{id + ": failed"}, flags: []string{"--debug"},
		plan: map[string]string{id: "Would have downloaded"}, errs: map[string][]string{id: {"401"}},
	}))
	l.sh("! test -e /srv/private.tar.gz")
	l.requests()

	// Another host gets no credentials.
	told(l.converge(step{site: "archive/private.lua moved/app.tar.gz", does: []string{id + ": Downloaded"}}))
	require.Equal(t, []string{"127.0.0.1:8080/moved/app.tar.gz_302_with_credentials", "localhost:8080/app.tar.gz_200"}, l.requests())
	l.sh("! grep -r -e pa55-word -e t0ken-value /var/lib/ccm /run/log 2>/dev/null")
}

// An archive that is refused leaves nothing behind.
func TestArchiveRefused(t *testing.T) {
	l := boot(t, debian)
	l.serve()
	l.write("/srv/www/app.tar.gz", gzipped(t, tarball(t, release("1.0"))))
	good := entry{name: "good.txt", text: "good\n", mode: 0o644}
	for name, entries := range map[string][]entry{
		"climbs":   {good, {name: "../../etc/climbed", text: "bad\n", mode: 0o644}},
		"absolute": {good, {name: "/etc/climbed", text: "bad\n", mode: 0o644}},
		"link":     {good, {name: "etc", link: "/etc"}, {name: "etc/climbed", text: "bad\n", mode: 0o644}},
		"bomb":     {good, {name: "zeros", text: strings.Repeat("\x00", 2<<20), mode: 0o644}},
	} {
		l.write("/srv/www/"+name+".tar.gz", gzipped(t, tarball(t, entries)))
	}
	s := step{
		site: "archive/refused.lua " + strings.Repeat("0", 64), plan: map[string]string{}, retry: map[string]string{},
		errs: map[string][]string{
			"archive#/srv/other.tar.gz":    {"checksum mismatch", strings.Repeat("0", 64)},
			"archive#/srv/none.tar.gz":     {"GET http://127.0.0.1:8080/none.tar.gz", "404"},
			"archive#/srv/climbs.tar.gz":   {"../../etc/climbed"},
			"archive#/srv/absolute.tar.gz": {"/etc/climbed"},
			"archive#/srv/link.tar.gz":     {"etc"},
			"archive#/srv/bomb.tar.gz":     {"max_size"},
			"archive#/srv/empty.tar.gz":    {"/srv/empty/nonesuch does not exist"},
		},
	}
	for _, name := range []string{"other", "none", "climbs", "absolute", "link", "bomb", "empty"} {
		id := "archive#/srv/" + name + ".tar.gz"
		s.does = append(s.does, id+": failed")
		s.plan[id] = "Would have downloaded. Would have extracted"
		if name != "other" && name != "none" { // the archive itself is there now
			s.retry[id] = "Would have extracted"
		}
	}
	l.converge(s)
	l.sh("! test -e /etc/climbed; ! test -e /srv/other.tar.gz; ! test -e /srv/none.tar.gz")
	l.says("", "cd /srv; for d in other none climbs absolute link bomb; do find $d -mindepth 1 2>/dev/null; done || :")
}
