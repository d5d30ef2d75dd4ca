-- An archive that is not for everybody: private.lua PATH [PASSWORD]
archive {
  "/srv/private.tar.gz",
  url = "http://127.0.0.1:8080/" .. arg[1],
  username = "deploy", password = arg[2] or "pa55-word",
  headers = { ["X-Token"] = "t0ken-value" },
  owner = "root", group = "root",
}
