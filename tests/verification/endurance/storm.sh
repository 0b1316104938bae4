# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=bash
# The function behind `./dev storm`.

storm_at_once=1000000

# Random changes of what is traced while three cores run traced code. The cores run at once (to find
# races), and then one after the other by the instruction (the same seed repeats the run).
storm() {
    local operations=${1:-200000} seed=${2:-1} calls=100 finished=0 now
    setup demo
    build virt storm
    # Most of the time goes to the work of the other cores.
    [ "$operations" -le "$storm_at_once" ] || calls=20
    SECONDS=0
    while [ "$finished" -lt "$operations" ]; do
        now=$((operations - finished < storm_at_once ? operations - finished : storm_at_once))
        # tests/firmware/storm/main.cpp explains "steady".
        storm_run "$((2 * finished))" 64 "-accel tcg,thread=multi"
        storm_run "$((2 * finished + now))" 32 "-icount shift=0"
        finished=$((finished + now))
        seed=$((seed + 1))
        [ "$finished" = "$operations" ] ||
            say "storm: $finished passed. To go on from here: ./dev storm $((operations - finished)) $seed"
    done
    say "storm: $operations operations passed, both ways, in $(minutes "$SECONDS")"
}

minutes() { printf '%d:%02d' "$(($1 / 60))" "$(($1 % 60))"; }

# storm_run BEFORE STEADY CLOCK: runs `now` operations, after BEFORE of both kinds. CLOCK: QEMU's arguments.
storm_run() {
    local before=$1 steady=$2 clock=$3 total=$((2 * operations)) line behind command
    say "storm: $now operations, seed $seed, $clock"
    command=$(qemu_command virt storm)
    # shellcheck disable=SC2086  # words
    ${command/-icount shift=0,sleep=off/$clock} </dev/null \
            -append "storm operations=$now seed=$seed steady=$steady calls=$calls" |
        while read -r line; do
            if [[ $line =~ ^storm:\ ([0-9]+)\ operations ]]; then
                behind=$((before + BASH_REMATCH[1]))
                [ ! -t 2 ] || printf '\rstorm: %d %%, %s, %s left ' "$((100 * behind / total))" \
                    "$(minutes "$SECONDS")" "$(minutes "$((SECONDS * (total - behind) / behind))")" >&2
            else
                [ ! -t 2 ] || printf '\r\e[K' >&2
                printf '%s\n' "$line"
            fi
        done
}
