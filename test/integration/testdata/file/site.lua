-- Files and directories of several owners.
file { "/srv/shared", ensure = "directory", owner = "games", group = "daemon", mode = "0750" }
file { "/srv/shared/key", content = "secret\n", owner = "games", group = "daemon", mode = "0640" }
file { "/srv/copy", source = "original.txt", owner = "root", group = "root", mode = "0444" }
file { "/srv/once", content = "first\n", content_once = true, owner = "root", group = "root", mode = "0644" }
file { "/srv/old", ensure = "absent", force = true }
