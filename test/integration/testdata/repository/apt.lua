-- A new repository, the index that belongs to it, and the newest version.
local list = file {
  "/etc/apt/sources.list.d/extra.list",
  content = "deb [trusted=yes] file:/srv/extra ./\n",
  owner = "root", group = "root", mode = "0644",
}

local update = exec { "apt-get update", refreshonly = true, subscribe = list }

package { "ccm-demo", ensure = "latest", require = update }
package { "ccm-extra", ensure = "1.0", require = update }
