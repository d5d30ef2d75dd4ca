local sshd = require "sshd"
sshd.server { settings = { PermitRootLogin = "no", passwordauthentication = false, AllowGroups = { "ssh", "admin" }, Port = { 22, 2222 } } }
sshd.sftp_only("sftp", "/srv/sftp")
