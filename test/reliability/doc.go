// Package reliability tests ccm under real failures: disks with errors or power failures, quotas, and too little
// memory. It needs root and Linux, and is run by `make integration`; see docs/testing.md.
package reliability
