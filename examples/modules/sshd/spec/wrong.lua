require("sshd").server { settings = { PermitRootLogn = "no" } }
