-- A service that is masked or not: mask.lua MASK ENSURE [ENABLE]
local mask, ensure, enable = arg[1] == "true", arg[2], arg[3]
service { "ccm-demo", mask = mask, ensure = ensure, enable = enable and enable == "true" }
