#!/usr/bin/env bash
# album.sh: obtains the demo album, assets/album, from two Debian packages without installing them.
# README.md next to this file says where the pictures come from. Exit status 0: the album is complete.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")"

album=album
complete=$album/.complete # names the packages that the pictures came from
packages=(kphotoalbum python-matplotlib-data)

[ -e "$complete" ] && exit 0

die() {
  printf 'album: %s\n' "$*" >&2
  exit 1
}

for tool in apt-get dpkg-deb; do
  command -v "$tool" >/dev/null ||
    die "the demo pictures come from Debian packages, and there is no $tool on this system: put photographs" \
      "of your own into assets/$album instead"
done

# Next to the album, so that moving the pictures there is only a rename.
work=$(mktemp -d "$PWD/.album.XXXXXX")
trap 'rm -rf "$work"' EXIT
log=$work/log

apt=(apt-get -o Acquire::http::Timeout=10 -o Acquire::https::Timeout=10 -o Acquire::Retries=0)
# Root's apt drops to a user who may not write here, and warns about it.
[ "$(id -u)" -ne 0 ] || apt+=(-o APT::Sandbox::User=root)

download() { (cd "$work" && "${apt[@]}" download "${packages[@]}") >>"$log" 2>&1; }

if ! download; then
  # The package lists may be missing or old; only root can renew them.
  if [ "$(id -u)" -ne 0 ] && grep -qE "Unable to locate|Can't (find|select)|404" "$log"; then
    die "apt's package lists are missing or old: run 'apt-get update' as root, then this again"
  fi
  [ "$(id -u)" -ne 0 ] || "${apt[@]}" update >>"$log" 2>&1 || true
  download || die "the packages ${packages[*]} cannot be downloaded; is there a network? $(tail -n 1 "$log")"
fi

for deb in "$work"/*.deb; do
  dpkg-deb -x "$deb" "$work/unpacked"
done
new=$work/new
mkdir "$new"
# Only the top folder: below it are icons cut from the same photographs.
demo=$work/unpacked/usr/share/kphotoalbum/demo
cp "$demo"/*.jpg "$demo"/*.avi "$(find "$work/unpacked" -name grace_hopper.jpg)" "$new" ||
  die "the packages ${packages[*]} no longer hold the expected pictures"
(cd "$work" && printf '%s\n' *.deb) >"$new/.complete"
chmod -R u=rwX,go=rX "$new"

if [ -d "$album" ]; then
  # There are the user's own pictures, or an album without its mark: nothing is replaced.
  mv -n "$new"/* "$album"
  mv "$new/.complete" "$complete"
else
  mv -T "$new" "$album"
fi
