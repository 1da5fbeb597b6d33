#!/usr/bin/env bash
# reference.sh FOLDER PROGRAM: the manual page is correct and has every option; bash completes commands, options and values.
set -euo pipefail
folder=$1 program=$2
export PATH="${program%/*}:$PATH"
here=$(mktemp -d)
trap 'rm -rf "$here"' EXIT
cd "$here"
touch picture.jpg

page=$(zcat "$folder/facesat.1.gz" | groff -man -ww -Tutf8 -P-cbou 2>warnings)
[ ! -s warnings ] || { cat warnings; exit 1; }
for command in detect live samples train evaluate 'bench sat' 'bench detect' 'bench cascade' 'bench micro' info; do
  # From the command's heading to the next one.
  section=$(awk -v heading="   facesat $command" '/^   facesat / { inside = $0 == heading } inside' <<<"$page")
  # shellcheck disable=SC2086
  for option in $(facesat $command --help | sed -nE 's/^  (-.,)?(--[a-z-]+).*/\2/p'); do
    case $option in --help | --help-all) continue ;; esac
    grep -qE -- "(^|[ ,])$option( |\$)" <<<"$section" || { echo "facesat $command: the page has no $option"; exit 1; }
  done
done

# shellcheck source=/dev/null
source /usr/share/bash-completion/bash_completion
# shellcheck source=/dev/null
source "$folder/facesat.bash"
# expect LINE WORD...: what completes the last word of this line.
expect() {
  COMP_LINE=$1 COMP_POINT=${#1} COMP_TYPE=9
  shift
  local line=$COMP_LINE
  [[ $line != *' ' ]] || line+="''"
  # As bash splits it: '=' and ':' are words of their own.
  line=${line//=/ = } line=${line//:/ : }
  eval "COMP_WORDS=($line)"
  COMP_CWORD=$((${#COMP_WORDS[@]} - 1)) COMPREPLY=()
  _facesat
  local expected="$*" offered="${COMPREPLY[*]}"
  [ "$offered" = "$expected" ] || { echo "'$COMP_LINE': offered '$offered', expected '$expected'"; exit 1; }
}
set +eu # bash-completion's functions use unset variables and statuses freely
expect 'facesat ' detect live samples train evaluate bench info cascades
expect 'facesat bench m' micro
expect 'facesat detect --min-' --min-neighbors --min-size --min-score
expect 'facesat detect --backend c' cpu cuda
expect 'facesat detect --backend=c' cpu cuda
expect 'facesat detect --cascade lefteye' lefteye_2splits
expect 'facesat detect --cascade lbp:frontalf' frontalface frontalface_improved
expect 'facesat detect --min-size '
expect 'facesat detect -o pic' picture.jpg
expect 'facesat detect pic' picture.jpg
expect 'facesat bench sat --type 64' 64f64f
facesat live --help | grep -q 'this build has none' || expect 'facesat live --sc' --scale-factor --screenshot
expect 'facesat cascades show righteye' righteye_2splits
