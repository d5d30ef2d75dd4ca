-- A package and the service that it ships: site.lua PACKAGE SERVICE
local pkg = package(arg[1])
service { arg[2], enable = true, require = pkg }
