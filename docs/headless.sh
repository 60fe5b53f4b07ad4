#!/usr/bin/env bash
# A task in a notebook's file, without a window, by curl: asks, runs what you allow, and prints
# the answer.
#
#   docs/headless.sh URL PASSWORD NOTEBOOK "MESSAGE" [--yes]
#
# URL is the server's, with its base; PASSWORD that of its login page (its token, if it has no
# other). --yes runs each cell without showing it first. Needs curl and jq.
set -euo pipefail

url=${1%/} password=$2 notebook=$3 message=$4 yes=${5:-}
jar=$(mktemp)
trap 'rm -f "$jar"' EXIT

cookie() { awk -v name="$1" '$6 == name { print $7 }' "$jar"; }
request() { # METHOD PATH [curl's arguments]
  curl -s --fail-with-body -b "$jar" -c "$jar" -H "X-XSRFToken: $(cookie _xsrf)" \
    -H "X-Codeinterp-Window: ${secret:-}" -X "$1" "$url/codeinterp/api/$2" "${@:3}"
}
api() { # The same; what was wrong is said in words, and ends the script.
  local said
  said=$(request "$@") || {
    jq -r .message <<< "$said" >&2
    exit 1
  }
  printf '%s' "$said"
}

# Like a browser: code in a kernel may know the server's token, so a token alone decides nothing.
curl -sS -o /dev/null -b "$jar" -c "$jar" "$url/login"
status=$(curl -sS -o /dev/null -w '%{http_code}' -b "$jar" -c "$jar" "$url/login" \
  --data-urlencode "password=$password" --data-urlencode "_xsrf=$(cookie _xsrf)")
case $status in
  302) ;;
  401 | 403)
    echo "$url does not accept this password or token." >&2
    exit 1
    ;;
  *)
    echo "$url/login answers with status $status. Check that it is a Jupyter server." >&2
    exit 1
    ;;
esac
secret=$(api POST clients -d '{}' | jq -r .secret)

session=$(jq -n --arg text "$message" --arg notebook "$notebook" \
  '{type: "send_message", session_id: "", $notebook, $text}' | api POST command -d @- | jq -r .session_id)

decide() { # the draft of an event, as JSON
  local action=run
  if [ "$yes" != --yes ]; then
    jq -r '"\n" + .title + "\n" + .source' <<< "$1" >&2
    read -r -p 'Run it? [y/n] ' word < /dev/tty
    [ "$word" = y ] || action=reject
  fi
  jq --arg action "$action" --arg session_id "$session" \
    '{type: "decide", $session_id, draft_id, nonce, source, $action}' <<< "$1" |
    api POST command -d @- > /dev/null
}

last=0
while true; do
  found=$(api GET "sessions/$session/events?after=$last")
  while read -r numbered; do
    last=$(jq -r .seq <<< "$numbered")
    event=$(jq -c .event <<< "$numbered")
    case $(jq -r .type <<< "$event") in
      draft_waiting) decide "$(jq -c .draft <<< "$event")" ;;
      tool_done) jq -r '"\(.title): \(.status) \(.summary)"' <<< "$event" ;;
      text_done) jq -r .text <<< "$event" ;;
      turn_ended)
        jq -r 'if .message == "" then empty else .message end' <<< "$event"
        [ "$(jq -r .stop_reason <<< "$event")" = end_turn ] && exit 0 || exit 1
        ;;
    esac
  done < <(jq -c '.events[]' <<< "$found")
  sleep 0.5
done
