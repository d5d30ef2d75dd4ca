#!/bin/sh
# The timer and the agent are neither enabled nor started, and an upgrade does not change the timer. A running agent
# is restarted without waiting for it, because the agent itself may be upgrading ccm, and finishes that first.
set -e
if [ -d /run/systemd/system ]; then
  systemctl daemon-reload || :
  systemctl --no-block try-restart ccm-agent.service || :
fi
