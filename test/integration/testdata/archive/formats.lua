-- All formats, without checksums; one of them under another suffix of its own.
file { "/srv/formats", ensure = "directory", owner = "root", group = "root", mode = "0755" }

for _, x in ipairs {
  { "app.tar.gz", "app.tar.gz" }, { "app.tgz", "app.tar.gz" }, { "plain.tar", "app.tar" }, { "app.zip", "app.zip" },
} do
  local name, remote = x[1], x[2]
  archive {
    "/srv/formats/" .. name,
    url = "http://127.0.0.1:8080/" .. remote,
    extract_parent = "/srv/formats/" .. name .. ".d",
    creates = "/srv/formats/" .. name .. ".d/bin/app",
    owner = "root", group = "root",
  }
end
