#!/bin/sh
# The timer and the agent are neither enabled nor started, and on an upgrade the timer is left as
# it is. An agent that runs is started anew, without waiting for it: it may be the agent that upgrades
# ccm, and it finishes that first.
set -e
if [ -d /run/systemd/system ]; then
  systemctl daemon-reload || :
  systemctl --no-block try-restart ccm-agent.service || :
fi
