// Package git has the arguments and variables for running the user's git without prompts, without running code of a
// repository, and without changes to the committed files.
//
// Begin with [Argv].
package git

import "os"

// RawAttributes is the content of info/attributes in a repository with which git archive writes files as they were
// committed. Otherwise attributes of the repository and settings of the user can change line ends and keywords
// (gitattributes(5)).
const RawAttributes = "* -text -eol -ident -filter -working-tree-encoding -export-ignore -export-subst\n"

// SignatureNamespace is the namespace of SSH signatures of commits and tags (gpg.format=ssh, git-config(1)).
const SignatureNamespace = "git"

// SignatureBegin is the first line of the signature in a commit or tag.
const SignatureBegin = "-----BEGIN SSH SIGNATURE-----\n"

// Argv returns the command line of git for a bare repository, or without a repository if dir is "". It removes the
// variables of a repository from the environment, which git sets for its hooks, because they are about another one.
func Argv(dir string, args ...string) []string {
	argv := []string{"env", "-u", "GIT_DIR", "-u", "GIT_WORK_TREE", "-u", "GIT_INDEX_FILE", "-u", "GIT_OBJECT_DIRECTORY", "-u", "GIT_ALTERNATE_OBJECT_DIRECTORIES", "git"}
	if dir != "" {
		argv = append(argv, "--git-dir="+dir)
	}
	return append(argv, args...)
}

// Environment returns variables with which git, and the ssh that it runs, never prompt on the terminal and use only
// the usual transports. http is one of them only if plain is set: a server of https may redirect to it, and anybody
// on the network can change the response.
func Environment(plain bool) []string {
	protocols := "ssh:https:file"
	if plain {
		protocols += ":http"
	}
	env := []string{"GIT_TERMINAL_PROMPT=0", "GIT_ALLOW_PROTOCOL=" + protocols}
	if os.Getenv("GIT_SSH_COMMAND") == "" && os.Getenv("GIT_SSH") == "" {
		// ssh would wait for ever for a passphrase on the terminal.
		env = append(env, "GIT_SSH_COMMAND=ssh -o BatchMode=yes")
	}
	return env
}
