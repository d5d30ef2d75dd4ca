package state

import "testing"

// A text names a path if it contains the path as a whole, or a path below it.
func TestNamesPath(t *testing.T) {
	for text, want := range map[string]bool{
		"/srv/app": true, "/srv/app/x": true, "cd /srv/app && ls": true, "dir=/srv/app;": true, "@/srv/app": true, "file#/srv/app/x": true,
		"/srv/application": false, "/srv/app-2": false, "/var/srv/app": false, "/srv": false, "": false, "/srv/app2 /srv/app": true,
	} {
		if namesPath(text, "/srv/app") != want {
			t.Errorf("%q: expected %v", text, want)
		}
	}
}
