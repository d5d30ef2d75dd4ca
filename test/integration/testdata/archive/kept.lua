-- An archive that is kept and extracted whenever it was downloaded.
--   kept.lua CHECKSUM [OWNER]
archive {
  "/srv/kept.tar.gz",
  url = "http://127.0.0.1:8080/app.tar.gz",
  checksum = arg[1],
  extract_parent = "/srv/kept",
  owner = arg[2] or "root", group = "root",
}
