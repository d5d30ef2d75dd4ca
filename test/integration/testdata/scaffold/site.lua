-- A directory rendered from templates, and the service that reads it.
--   site.lua [ENSURE [PURGE]]
local conf = scaffold {
  "/etc/app",
  ensure = arg[1] or "present",
  source = "jet",
  skip_empty = true,
  purge = arg[2] == "purge",
  post = { { ["*.sh"] = "chmod 0755 {}" } },
}

service { "it", subscribe = conf }
