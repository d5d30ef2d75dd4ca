file.defaults { owner = "root", group = "root", mode = "0644" }

file { "/etc/myapp", ensure = "directory", mode = "0755" }
file { "/etc/myapp/app.conf", content = "port = 8080\nworkers = 4\n" }
std.line { "/etc/hosts", line = "10.0.0.5  db" }
