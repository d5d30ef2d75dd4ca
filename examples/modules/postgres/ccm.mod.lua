return {
  name = "postgres",
  description = "PostgreSQL of the distribution, with settings, access, roles and databases",
  exports = { "postgres" },
  tests = "spec",
}
