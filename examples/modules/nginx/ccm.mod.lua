return {
  name = "nginx",
  description = "nginx with virtual hosts, TLS and proxies",
  exports = { "nginx" },
  tests = "spec",
}
