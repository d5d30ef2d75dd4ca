-- One package that is held or not: site.lua NAME ENSURE true|false
package { arg[1], ensure = arg[2], hold = arg[3] == "true" }
