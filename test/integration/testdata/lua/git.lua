-- A clone of the repository arg[1] at the ref arg[2]; arg[3] is force, keep or absent.
local url, ref, how = arg[1], arg[2], arg[3]
require "std.git" {
  "/srv/app",
  url = url,
  ref = ref,
  force = how == "force",
  update = how ~= "keep",
  ensure = how == "absent" and "absent" or "present",
}
