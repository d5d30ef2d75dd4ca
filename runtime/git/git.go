// Package git says how the git of the user is called, so that it asks nothing, runs nothing out of
// a repository, and gives files as they were committed.
//
// Begin with [Argv].
package git

import "os"

// RawAttributes belong into the file info/attributes of a repository. They have git archive give
// files as they were committed: attributes of the repository, and the settings of whoever runs git,
// change line ends and keywords otherwise (gitattributes(5)).
const RawAttributes = "* -text -eol -ident -filter -working-tree-encoding -export-ignore -export-subst\n"

// SignatureNamespace is that of SSH signatures of commits and tags (gpg.format=ssh, git-config(1)).
const SignatureNamespace = "git"

// SignatureBegin is where in a commit or tag its signature begins.
const SignatureBegin = "-----BEGIN SSH SIGNATURE-----\n"

// Argv returns the command line of git for a bare repository, or for none if dir is "". What the
// environment says of a repository is left out: git sets it for its hooks, and it is about another one.
func Argv(dir string, args ...string) []string {
	argv := []string{"env", "-u", "GIT_DIR", "-u", "GIT_WORK_TREE", "-u", "GIT_INDEX_FILE", "-u", "GIT_OBJECT_DIRECTORY", "-u", "GIT_ALTERNATE_OBJECT_DIRECTORIES", "git"}
	if dir != "" {
		argv = append(argv, "--git-dir="+dir)
	}
	return append(argv, args...)
}

// Environment returns variables with which git, and the ssh that it calls, ask for nothing on a
// terminal, and use no transport but the usual ones. Without plain, http is none of these: a server
// that is asked by https may redirect to it, and everybody on the way can change what it brings.
func Environment(plain bool) []string {
	protocols := "ssh:https:file"
	if plain {
		protocols += ":http"
	}
	env := []string{"GIT_TERMINAL_PROMPT=0", "GIT_ALLOW_PROTOCOL=" + protocols}
	if os.Getenv("GIT_SSH_COMMAND") == "" && os.Getenv("GIT_SSH") == "" {
		// ssh asks for a passphrase on the terminal, and would wait there for ever.
		env = append(env, "GIT_SSH_COMMAND=ssh -o BatchMode=yes")
	}
	return env
}
