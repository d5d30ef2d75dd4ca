// Package studio is a designer of sites in the browser: ccm studio. It serves a page on the
// loopback interface, keeps the texts of open files, and edits and saves them. It evaluates and
// plans sites, and never converges anything.
//
// Begin with [Open].
package studio
