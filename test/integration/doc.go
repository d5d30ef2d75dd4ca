// Package integration tests ccm on real systems: it boots throw-away systems (see test/lab) and runs sites in them
// with the built ccm. Nothing is simulated: systemd, apt, dpkg, dnf, rpm and the HTTP server are real.
//
// The tests need root and the build tag integration; make integration runs them. Begin with converge in site_test.go,
// which checks every site.
package integration
