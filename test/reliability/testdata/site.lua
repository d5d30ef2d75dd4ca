-- Files of which B has more and others than A, and a command that is run when one of
-- them changes: site.lua DIR VERSION. What it has seen is safe on the disk when it ends.
local dir, version = arg[1], arg[2]
local files = {}
for i = 1, version == "A" and 6 or 9 do
  files[i] = file {
    dir .. "/" .. i,
    content = (version .. " of " .. i .. "\n"):rep(i % 3 == 0 and 20000 or 1),
    owner = "root", group = "root", mode = version == "A" and "0644" or "0640",
  }
end
exec {
  "see", command = "cat " .. dir .. "/[1-9] > " .. dir .. "/seen && sync " .. dir .. "/seen",
  provider = "shell", refreshonly = true, subscribe = files,
}
