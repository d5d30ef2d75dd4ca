// Package reliability breaks what ccm stands on, for real: disks that give errors or
// lose their power, quotas, memory that is used up. It needs root and Linux, and
// is run by `make integration`; see docs/testing.md.
package reliability
