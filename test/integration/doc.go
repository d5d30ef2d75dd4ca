// Package integration proves ccm on real systems: it boots throw-away Debian
// systems (see test/lab) and runs sites in them with the ccm that it built.
// There is no double anywhere: systemd, apt, dpkg, dnf, rpm and the HTTP server
// are real.
//
// Its tests need root and are behind the build tag integration; make
// integration runs them. Begin with converge in site_test.go: what is asked of
// every site.
package integration
