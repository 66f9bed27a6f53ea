#!/bin/bash
# qrunner for the load harness: one daemon on an empty share, LMTP intake.
# BENCH_OPTS words: verp = one transaction per member.
set -eu
BIN=${QRUNNER_BIN:-$(cd "$(dirname "$0")/../.." && pwd)/bin/qrunner}
CONF=$BENCH_WORK/qrunner.yaml
case $1 in
start)
    port=$((20000 + $$ % 20000))
    case " $BENCH_OPTS " in *" verp "*) verp=1 ;; *) verp=0 ;; esac
    mkdir -p "$BENCH_WORK/share"
    cat >"$CONF" <<TXT
var: $BENCH_WORK/share
host: bench
site: {owner: postmaster@example.test}
lock: {local_dir: $BENCH_WORK/local}
lmtp: {listen: ["127.0.0.1:$port"]}
smarthost: {address: "$BENCH_SINK_HOST:$BENCH_SINK_PORT", tls: none, connections: 16, recipients: 100}
log: {level: warn}
TXT
    "$BIN" --config "$CONF" init >/dev/null
    "$BIN" --config "$CONF" list create "$BENCH_LIST" --set verp_delivery_interval=$verp --set archive_policy=never \
        --set max_message_size=0 >/dev/null
    "$BIN" --config "$CONF" member import "$BENCH_LIST" "$BENCH_MEMBERS" >/dev/null
    "$BIN" --config "$CONF" run >"$BENCH_WORK/log" 2>&1 &
    echo $! >"$BENCH_WORK/pid"
    until grep -q running "$BENCH_WORK/log" || (echo >"/dev/tcp/127.0.0.1/$port") 2>/dev/null; do sleep 0.1; done
    echo "version qrunner $("$BIN" version | cut -d' ' -f2)"
    echo "inject lmtp 127.0.0.1:$port"
    ;;
stop)
    kill "$(cat "$BENCH_WORK/pid")" 2>/dev/null || true
    ;;
esac
