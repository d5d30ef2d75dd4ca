// Package cli has what the commands of ccm share: the [Env] of one command line, flags, completion,
// exit statuses, questions on the terminal, and how output is printed.
package cli
