-- One package cannot be had. What needs it is left out, the rest goes on.
--   site.lua NAME OTHER
local unmet = package(arg[1])

file {
  "/etc/needs-it.conf",
  content = "written only if the package is there\n",
  owner = "root", group = "root", mode = "0644",
  require = unmet,
}

package(arg[2])
