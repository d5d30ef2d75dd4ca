-- keys.lua KIND
require "std.user" { "keys", home = "/srv/keys", manage_home = true, shell = "/bin/sh", ssh_key = arg[1] }
