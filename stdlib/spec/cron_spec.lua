require "std.cron"

suite("cron", {
  starts = {
    nothing = {}, users = { files = { ["/etc/passwd"] = "root:x:0:0::/root:/bin/sh\n" } },
    other = { files = { ["/etc/cron.d/b"] = "@daily root true\n" } },
  },
  wants = {
    job = { "b", command = "true", schedule = "30 3 * * *" },
    stranger = { "b", command = "true", schedule = "@daily", user = "stranger" },
    absent = { "b", ensure = "absent" },
  },
  phrases = { ["nothing/job"] = { "created the cron job" }, ["other/job"] = { "updated the cron job" }, ["nothing/absent"] = {} },
  fails = { ["users/stranger"] = 'no such user "stranger", the user of the command' },
})
