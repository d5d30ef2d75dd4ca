-- os.date knew only some directives.
print(os.date("!%a %A %b %B %d %H %I %j %m %M %p %S %U %w %W %x %X %y %Y %%", 86400 * 40 + 3661))
for _, day in ipairs {0, 3, 4, 5, 58, 59, 60, 364, 365} do print(os.date("!%U %W %w %j", day * 86400)) end
print(os.date("!*t", 86400 * 59).yday, os.date("!%c", 0))
print((pcall(os.time, {year = 2020, month = 1})))
--[[out
Tue Tuesday Feb February 10 01 01 041 02 01 AM 01 06 2 06 02/10/70 01:01:01 70 1970 %
00 00 4 001
01 00 0 004
01 01 1 005
01 01 2 006
08 08 6 059
09 08 0 060
09 09 1 061
52 52 4 365
00 00 5 001
60	Thu Jan  1 00:00:00 1970
false
]]
