#!/usr/bin/env bash
# cars.sh: obtains the UIUC image database for car detection, assets/cars, for ./dev demo-train. README.md next to this
# file says where it comes from. Exit status 0: the set is complete.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")"

cars=cars
[ -e "$cars/.complete" ] && exit 0

sources=(
  https://github.com/gcr/arc-evaluator/raw/a7ec771f3b601c4e5a2e885e58efd31dbf37a1fe/CarData.tar.gz
  http://cogcomp.cs.illinois.edu/Data/Car/CarData.tar.gz
)
# Of all pictures that are used, and of the places of the cars.
checksum=0e848fdb5759ec4d5bb23163f9125e4a8a97db419f5fb69d0781458b4e384cbd

die() {
  printf 'cars: %s\n' "$*" >&2
  exit 1
}

# Next to the set, so that moving it there is only a rename.
work=$(mktemp -d "$PWD/.cars.XXXXXX")
trap 'rm -rf "$work"' EXIT
new=$work/CarData

is_complete() {
  [ "$({ cat "$new"/TrainImages/{pos,neg}-*.pgm "$new"/TestImages/test-*.pgm && tr -d '\r' <"$new/trueLocations.txt"; } |
    sha256sum)" = "$checksum  -" ]
}

command -v curl >/dev/null || die "the UIUC car images are fetched with curl, which is not installed"
export LC_ALL=C # the order of names is part of the checksum
found=
for source in "${sources[@]}"; do
  rm -rf "$new"
  if ! curl -fsSL --connect-timeout 20 --max-time 600 -o "$work/CarData.tar.gz" "$source" 2>"$work/log"; then
    printf 'cars: %s: %s\n' "$source" "$(tail -n 1 "$work/log")" >&2
  elif tar -xf "$work/CarData.tar.gz" -C "$work" 2>/dev/null && is_complete 2>/dev/null; then
    found=$source
    break
  else
    printf 'cars: %s: what it sends is not the UIUC car images as they were published\n' "$source" >&2
  fi
done
[ -n "$found" ] || die "the UIUC car images cannot be fetched; is there a network?"

# Annotations as OpenCV's info.dat has them. A line of trueLocations.txt is "3: (18,33) (118,35)": rows before columns.
for picture in "$new"/TrainImages/pos-*.pgm; do
  printf 'TrainImages/%s 1 0 0 100 40\n' "${picture##*/}"
done >"$new/train.info.dat"
tr -d '\r' <"$new/trueLocations.txt" | tr -s ':(), ' ' ' | awk 'NF > 1 {
  line = "TestImages/test-" $1 ".pgm " (NF - 1) / 2
  for (i = 2; i < NF; i += 2) line = line " " $(i + 1) " " $i " 100 40"
  print line
}' >"$new/test.info.dat"
(cd "$new" && printf '%s\n' TrainImages/neg-*.pgm) >"$new/negatives.txt"

touch "$new/.complete"
chmod -R u=rwX,go=rX "$new"
rm -rf "$cars"
mv -T "$new" "$cars"
