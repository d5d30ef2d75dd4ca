package main

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"
)

// randomTools replace programs that this machine may not have. They do the part of the real programs that ccm uses,
// and keep their state in files.
var randomTools = map[string]string{
	// Each package is a file in the directory.
	"gem": `#!/bin/sh
case $1 in
list) if test -e "$GEM_HOME/$4"; then echo "$4 ($(cat "$GEM_HOME/$4"))"; fi ;;
install) mkdir -p "$GEM_HOME" && echo "${6:-1.0}" >"$GEM_HOME/$4" ;;
uninstall) rm "$GEM_HOME/$5" ;;
esac
`,
	// npm VERB --prefix DIR OPTION... NAME@VERSION: each package is a file in DIR/node_modules.
	"npm": `#!/bin/sh
verb=$1 dir=$3/node_modules
for last; do :; done
name=${last%@*} version=${last##*@}
case $verb in
ls)
	printf '{"dependencies":{'
	between=
	for f in "$dir"/*; do
		if test -e "$f"; then printf '%s"%s":{"version":"%s"}' "$between" "${f##*/}" "$(cat "$f")"; between=,; fi
	done
	echo '}}' ;;
install)
	if test "$version" = "$last"; then version=1.0; fi
	mkdir -p "$dir" && echo "$version" >"$dir/$name" ;;
uninstall) rm "$dir/$name" ;;
esac
`,
	// python3 -m venv DIR, and DIR/bin/python3 -m pip VERB OPTION... NAME==VERSION: each package
	// is a file in DIR/lib.
	"python3": `#!/bin/sh
if test "$2" = venv; then
	mkdir -p "$3/bin" && cp "$0" "$3/bin/python3"
	exit
fi
lib=${0%/bin/python3}/lib
for last; do :; done
name=${last%==*} version=${last##*==}
case $3 in
list)
	printf '['
	between=
	for f in "$lib"/*; do
		if test -e "$f"; then printf '%s{"name":"%s","version":"%s"}' "$between" "${f##*/}" "$(cat "$f")"; between=,; fi
	done
	echo ']' ;;
install)
	if test "$version" = "$last"; then version=1.0; fi
	mkdir -p "$lib" && echo "$version" >"$lib/$name" ;;
uninstall) rm "$lib/$name" ;;
esac
`,
}

// provideTools puts randomTools into the search path.
func provideTools(t *testing.T) {
	dir := t.TempDir()
	for name, text := range randomTools {
		require.NoError(t, os.WriteFile(filepath.Join(dir, name), []byte(text), 0o755))
	}
	t.Setenv("PATH", dir+":"+os.Getenv("PATH"))
}
