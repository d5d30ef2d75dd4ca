#!/bin/sh
# kill.sh VERSION STEP...: for each STEP, ends a run of the site at that effect on
# the disk with kill -9, runs it again, and says what was lost. It goes from one
# version to the other, beginning with VERSION.
version=$1
shift
for step; do
    CCM_KILL_AT=$step /opt/ccm/ccm-kill run -q /srv/sites/reliability/site.lua -- $version > /run/out 2>&1
    status=$?
    [ $status = 137 ] || [ $status = 0 ] || echo "step $step: the run that was to be killed ended with $status: $(cat /run/out)"
    [ $status = 137 ] && echo killed
    /opt/ccm/ccm run /srv/sites/reliability/site.lua -- $version > /run/out 2>&1 || echo "step $step: the next run failed: $(cat /run/out)"
    /opt/ccm/ccm plan --detailed-exitcodes /srv/sites/reliability/site.lua -- $version > /run/out 2>&1 || echo "step $step: not converged: $(cat /run/out)"
    for i in 1 2 3 4 5; do
        [ "$(cat /run/noted-$i)" = "$(cat /srv/kill/$i/*)" ] || echo "step $step: note $i was not run"
    done
    [ "$(cat /run/seen)" = "$(cat /srv/kill/5/*)" ] || echo "step $step: the service was not restarted"
    left=$(find /srv/kill -name '.*')
    [ -z "$left" ] || echo "step $step: left behind: $left"
    /opt/ccm/ccm history > /dev/null 2> /run/out || echo "step $step: the history cannot be read"
    [ -s /run/out ] && echo "step $step: history: $(cat /run/out)"
    pending=$(/opt/ccm/ccm history --pending)
    [ -z "$pending" ] || echo "step $step: still pending: $pending"
    [ $version = A ] && version=B || version=A
done
exit 0
