#!/bin/sh
# On the way to another version nothing is stopped. deb says "upgrade" then, rpm says 1.
set -e
case ${1-} in
  remove | 0) ;;
  *) exit 0 ;;
esac
if [ -d /run/systemd/system ]; then
  systemctl stop ccm-run.timer >/dev/null 2>&1 || :
  systemctl --no-block stop ccm-agent.service >/dev/null 2>&1 || :
  systemctl disable ccm-run.timer ccm-agent.service >/dev/null 2>&1 || :
  # A run that has failed is not to be listed by systemctl --failed for ever.
  systemctl reset-failed ccm-run.service ccm-agent.service >/dev/null 2>&1 || :
fi
