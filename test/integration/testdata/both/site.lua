package "ccm-demo"
package { "ccm-demo-rpm", provider = "dnf" }
