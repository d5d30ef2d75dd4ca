-- The message of the day.
local M = {}

--- Keeps a text that users see when they log in.
function M.message(text)
  return file {
    "/etc/motd",
    content = text .. "\n",
    owner = "root",
    group = "root",
    mode = "0644",
  }
end

return M
