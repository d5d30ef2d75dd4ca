-- A new repository and the newest version. Dnf reads it by itself.
local repo = file {
  "/etc/yum.repos.d/extra.repo",
  content = [[
[extra]
name=extra
baseurl=file:///srv/extra
gpgcheck=0
]],
  owner = "root", group = "root", mode = "0644",
}

package { "ccm-demo-rpm", ensure = "latest", require = repo }
