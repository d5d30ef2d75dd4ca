-- One package: site.lua NAME ENSURE
package { arg[1], ensure = arg[2] }
