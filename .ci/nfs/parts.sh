# The parts of the NFS tests, for run. Each works in a folder of its own on the export.
part=0

# wanted VERS OPTS: whether that mount was asked for
wanted() { [ -z "$only" ] || [ "$only" = "$1${2:+,$2}" ]; }

# kick wakes guests. A User-Mode Linux on a busy machine loses its timer now and then, and
# all that waits for time in it sleeps for ever; one more alarm, once its handler is
# there, and it goes on.
kick() {
	local init p caught
	trap - EXIT
	while sleep 2; do
		for init in $(cat "$NFSRIG_STATE/$NFSRIG_NAME"/hosts/*/init 2>/dev/null); do
			for p in $(cat "/proc/$init/task/$init/children" 2>/dev/null); do
				caught=$(sed -n 's/^SigCgt:\t//p' "/proc/$p/status" 2>/dev/null)
				((0x${caught:-0} & 1 << 13)) && kill -ALRM "$p" 2>/dev/null
			done
		done
	done
}

# begin VERS OPTS [CLIENTS]: the machines, afresh. Where they do not start at all, nothing can be
# tested; after others did, it is a failure.
begin() {
	[ -z "$up" ] || rig down >/dev/null
	label="v$1${2:+,$2}"
	local try
	for try in 1 2; do
		rig up --vers "$1" --clients "${3:-3}" ${2:+--opts "$2"} --share "$tmp/share" --mem 512 >"$tmp/up.log" 2>&1 && { up=1; tail -1 "$tmp/up.log"; return; }
		cat "$tmp/up.log"
		rig down >/dev/null 2>&1
	done
	[ -n "$up" ] || unable "its virtual machines do not start here, see above"
	up=
	result 1 "boot"
	return 1
}

result() { # result STATUS WHAT
	if [ "$1" = 0 ]; then echo "ok    $label: $2 ($SECONDS s)"; return; fi
	echo "FAIL  $label: $2 ($SECONDS s)"; failed=$((failed + 1))
	tail -n 40 "$tmp"/share/$part/*.out 2>/dev/null
}

# fresh: a new folder on the export, and one for what the parts tell each other
fresh() { part=$((part + 1)); mkdir -p "$tmp/share/$part"; }

# in_guest HOST ENV... TEST: one test of the binary, its output in HOST.out
in_guest() {
	local h=$1 dir=/nfs env=() out; shift
	while [ $# -gt 1 ]; do env+=(-e "$1"); shift; done
	[ "$h" = server ] && dir=/export
	out="$tmp/share/$part/$h.$1.out"
	rig run "$h" -n -e NFSTEST_SHARE=$dir/$part -e NFSTEST_TALK=/host/$part -e TMPDIR=/tmp "${env[@]}" -- \
		/host/nfs.test -test.run "^$1\$" -test.count=1 -test.v -test.timeout 10m >>"$out" 2>&1
}

said() { # said FILE SECONDS: wait until a part has told it
	local end=$((SECONDS + $2))
	until [ -e "$tmp/share/$part/$1" ]; do
		[ $SECONDS -lt $end ] || { echo "nobody said $1"; return 1; }
		sleep 0.05
	done
}

# rules DURATION: what may go stale is watched no longer than that
rules() {
	fresh
	in_guest 1 TestRulesActor & local a=$!
	in_guest 2 NFSTEST_FOR=$1 TestRules; local st=$?
	wait $a
	grep -h '^rule' "$tmp/share/$part/2.TestRules.out" | sed 's/^/      /'
	result $st "rules of NFS"
}

conformance() { fresh; in_guest 1 TestConformance; result $? "conformance suite"; }

# cost TIMES: of a lock that nobody else wants
cost() {
	fresh
	in_guest 1 NFSTEST_GRANTS=$1 TestCost; local st=$?
	grep -h '^cost' "$tmp/share/$part/1.TestCost.out" | sed 's/^/      /'
	result $st "cost of a lock"
}

# crowd PROCS GRANTS: everybody gets the lock so often; three machines
crowd() {
	fresh
	local t=$SECONDS p=() st=0 h
	for h in 1 2 3; do in_guest $h NFSTEST_PROCS=$1 NFSTEST_GRANTS=$2 NFSTEST_BASE=1s NFSTEST_FOR=9m TestWorkers & p+=($!); done
	for h in "${p[@]}"; do wait "$h" || st=1; done
	in_guest server NFSTEST_GRANTS=$((3 * $1 * $2)) TestJudge || st=1
	echo "      $(grep -h '^judge' "$tmp"/share/$part/server.*.out) in $((SECONDS - t)) s, longest wait $(
		grep -ho 'longest-wait=[0-9.]*' "$tmp"/share/$part/*.out | cut -d= -f2 | sort -n | tail -1) s"
	result $st "3 machines x $1 processes x $2 grants"
}

# faults LIST: for each, a holder on machine 1 that suffers it and workers on the others
faults() { local f; for f in $1; do holder "$f"; done; }

holder() {
	fresh
	local st=0 t=$SECONDS h w=()
	in_guest 1 NFSTEST_FOR=18s TestHolder & h=$!
	said holding 120 || { result 1 "holder and $1"; return; }
	for c in 2 3; do in_guest $c NFSTEST_PROCS=2 NFSTEST_FOR=22s TestWorkers & w+=($!); done
	said ready.c2 120 && said ready.c3 120 || st=1
	"fault_$1"
	for c in "${w[@]}"; do wait "$c" || st=1; done
	wait $h
	in_guest server NFSTEST_GRANTS=4 TestJudge || st=1
	grep -h '^holder\|^judge' "$tmp"/share/$part/*.out | sed 's/^/      /'
	result $st "holder and $1 ($((SECONDS - t)) s)"
}

# soak: the daemon on two machines, all faults in turn. Smarthost, clients and judge are on
# this machine, in the rig's network, where only the guests' way to the server fails.
soak() {
	fresh
	printf '#!/bin/sh\nLD_PRELOAD=%s exec %s "$@"\n' "$preload" "$rig" >"$tmp/rig.sh"
	chmod +x "$tmp/rig.sh"
	"$rig" net env SOAK_NFS="${SOAK_NFS:-4m}" SOAK_NFS_RIG="$tmp/rig.sh" SOAK_NFS_DIR="$tmp/share" \
		QRUNNER_E2E_BINARY="$tmp/share/qrunner" "$tmp/soak.test" -test.run '^TestSoakNFS$' -test.v -test.timeout 2h
	result $? "soak"
}

# The faults; a lease lasts 6 s.
fault_kill() { rig fault 1 kill; sleep 12; rig fault 1 start; }
fault_pause() { rig fault 1 pause; sleep 12; rig fault 1 resume; }
fault_partition() { rig fault 1 partition; sleep 12; rig fault 1 heal; }
fault_mute() { rig fault 1 mute; sleep 12; rig fault 1 unmute; }
fault_clock() { rig fault 1 clock +3600; rig fault 2 clock -3600; sleep 10; rig fault 1 clock sync; rig fault 2 clock sync; }
fault_restart() { rig fault server restart 3; }
fault_server() { rig fault server kill; sleep 1; rig fault server start; }
