-- An application from an archive, with its configuration from a tree of
-- templates. The archive is downloaded once: as long as its program is there,
-- nothing is fetched.
local version = "1.4.2"
local app = "/opt/app-" .. version

file { "/opt", ensure = "directory", owner = "root", group = "root", mode = "0755" }

archive {
  "/opt/app-" .. version .. ".tar.gz",
  url = "https://downloads.example/app-" .. version .. ".tar.gz",
  checksum = "5891b5b522d5df086d0ff0b110fbd9d21bb4fc7163af34d08286a2e846f6be03",
  owner = "root",
  group = "root",
  extract_parent = "/opt",
  creates = app .. "/bin/app",
  cleanup = true,
}

-- Every file below templates/ becomes one below /etc/app.
scaffold { "/etc/app", source = "templates", purge = true }
