# For tests that are scripts, which source this: checks by name. A script that redefines `evidence` shows with it what a
# failed check left.
failed=0 checks=0

check() { # NAME CONDITION...
    local name=$1
    shift
    checks=$((checks + 1))
    "$@" && return
    echo "failed: $name"
    evidence | cat -v | cut -c 1-160 | sed 's/^/    /'
    failed=$((failed + 1))
}
evidence() { :; }
end_checks() {
    echo "$checks checks, $failed failed"
    [ "$failed" -eq 0 ]
}
