#!/bin/sh
# An upgrade stops nothing. In that case the argument is "upgrade" for deb, and 1 for rpm.
set -e
case ${1-} in
  remove | 0) ;;
  *) exit 0 ;;
esac
if [ -d /run/systemd/system ]; then
  systemctl stop ccm-run.timer >/dev/null 2>&1 || :
  systemctl --no-block stop ccm-agent.service >/dev/null 2>&1 || :
  systemctl disable ccm-run.timer ccm-agent.service >/dev/null 2>&1 || :
  # Otherwise systemctl --failed would list a failed run for ever.
  systemctl reset-failed ccm-run.service ccm-agent.service >/dev/null 2>&1 || :
fi
