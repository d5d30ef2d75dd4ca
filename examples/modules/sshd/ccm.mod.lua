return {
  name = "sshd",
  description = "sshd with safe settings, and sftp without a shell",
  exports = { "sshd" },
  tests = "spec",
}
