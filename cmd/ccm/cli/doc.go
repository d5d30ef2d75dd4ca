// Package cli is shared by the commands of ccm: the [Env] of one command line, flags, completion,
// exit statuses, questions on the terminal, and printing.
package cli
