local postgres = require "postgres"
postgres.server {
  version = 15,
  settings = { max_connections = 200, listen_addresses = "localhost", log_connections = true },
  hba = { { "host", "app", "app", "127.0.0.1/32", "scram-sha-256" } },
}
postgres.role { "app", password = "it's a secret" }
postgres.database { 'the "app"', owner = "app" }
