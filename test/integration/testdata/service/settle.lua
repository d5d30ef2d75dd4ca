-- Services that have to stay up for a while: settle.lua SETTLE NAME...
for i = 2, #arg do
  service { arg[i], settle = arg[1] }
end
