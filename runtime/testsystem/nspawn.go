package testsystem

// nspawnName is the driver of systemd-nspawn: containers that boot, on an overlay over a cached image.
const nspawnName = "nspawn"
