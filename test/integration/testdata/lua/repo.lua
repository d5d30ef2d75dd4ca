require "std.apt_repo" { "extra", uris = arg[1], suites = "./", trusted = true }
