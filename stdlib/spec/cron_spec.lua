require "std.cron"

suite("cron", {
  starts = { nothing = {}, other = { files = { ["/etc/cron.d/b"] = "@daily root true\n" } } },
  wants = {
    job = { "b", command = "true", schedule = "30 3 * * *" },
    absent = { "b", ensure = "absent" },
  },
  phrases = { ["nothing/job"] = { "created the cron job" }, ["other/job"] = { "updated the cron job" }, ["nothing/absent"] = {} },
})
