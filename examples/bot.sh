#!/bin/sh
# A bot for a py2048 server that needs only curl and sed. It prefers down, then left, up and right.
# Usage: PY2048_TOKEN=... sh examples/bot.sh http://127.0.0.1:2048 classic
url=${1:-http://127.0.0.1:2048}
wanted="{\"rules\": \"${2:-classic}\"}"

api() { # path, curl's options
    path=$1
    shift
    curl -sN "$url/api/games$path" -H "Authorization: Bearer $PY2048_TOKEN" \
        -H 'Content-Type: application/json' "$@"
}
value() { printf '%s' "$state" | sed -n "s/.*\"$1\":\"\{0,1\}\([^],\"]*\).*/\1/p"; }

state=$(api "" -d "$wanted")
game=$(value game)
[ "$game" ] || { echo "$state" >&2; exit 1; }
api "/$game/stream" | while read -r state; do
    for direction in right up left down; do
        case $(printf '%s' "$state" | sed -n 's/.*"legal":\[\([^]]*\).*/\1/p') in
        *\"$direction\"*) move=$direction ;;
        esac
    done
    [ "$(value outcome)" = playing ] || continue
    api "/$game/moves" -d "{\"number\": $(($(value version) + 1)), \"direction\": \"$move\"}" >/dev/null
done
echo "$url/game/$game"
