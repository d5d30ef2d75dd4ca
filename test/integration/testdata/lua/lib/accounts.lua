-- Who there is.
local user, group = require "std.user", require "std.group"

return function(state)
  local ensure = state == "gone" and "absent" or "present"
  local second = state == "two"
  if ensure == "present" then
    group { "deploy", gid = second and 4300 or 4200 }
    user {
      "app", uid = 4100, comment = second and "The app" or "App", home = "/srv/app", shell = "/usr/sbin/nologin",
      groups = { "deploy" }, password = second and "*" or "!", system = true,
    }
    group { "ops", members = second and { "app", "daemon" } or { "app" }, membership = "exact" }
  else
    user { "app", ensure = "absent" }
    group { "deploy", "ops", ensure = "absent" }
  end
end
