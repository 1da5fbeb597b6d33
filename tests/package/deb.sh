#!/bin/sh
# deb.sh FOLDER: unpacks the Debian packages in FOLDER elsewhere, and uses them without installing them.
set -eu
packages=$(cd "$1" && pwd)
root=$(mktemp -d)
trap 'rm -rf "$root"' EXIT
for package in "$packages"/*.deb; do dpkg-deb -x "$package" "$root"; done
usr=$root/usr
version=$(dpkg-deb -f "$packages"/facesat_*.deb Version)

"$usr/bin/facesat" --version | grep -x "facesat ${version%+*}"
# A picture that only OpenCV's module can read.
printf 'P7\nWIDTH 2\nHEIGHT 2\nDEPTH 1\nMAXVAL 255\nTUPLTYPE GRAYSCALE\nENDHDR\nabcd' >"$root/picture.pam"
"$usr/bin/facesat" detect -q "$root/picture.pam" | grep '"faces":\[\]'
modules=$(dirname "$(find "$usr/lib" -name libfacesat_opencv.so)")
[ -f "$modules/libfacesat_highgui.so" ] && [ -f "$modules/libfacesat_heif.so" ]
# What they say of themselves.
library=$(basename "$packages"/libfacesat[0-9]*.deb | cut -d _ -f 1)
expect() { # PACKAGE FIELD PATTERN
  dpkg-deb -f "$packages/$1"_*.deb "$2" | grep -q "$3" || { echo "$1: $2 has no '$3'"; exit 1; }
}
expect facesat Depends libopencv-highgui
expect facesat Depends libopencv-videoio
expect facesat Depends libglfw3
expect facesat Depends libheif1
expect facesat Description '^Face detection'
expect "$library" Depends libtbb
expect libfacesat-dev Depends "libfacesat.* (= $version)"

zcat "$usr/share/man/man1/facesat.1.gz" | grep -q "facesat ${version%+*}"
bash -n "$usr/share/bash-completion/completions/facesat"
desktop-file-validate "$usr/share/applications/facesat.desktop"
[ -s "$usr/share/icons/hicolor/scalable/apps/facesat.svg" ]
# Nothing names the folder in which it was built.
! grep -rl "$(cd "$(dirname "$0")/../.." && pwd)" "$usr"
