#!/bin/sh
# exported.sh LIBRARY LIST: fails unless the shared library exports exactly the functions in LIST.
set -eu
nm -DC --defined-only "$1" | sed -n 's/^[^ ]* T //p' | sed 's/\[abi:cxx11\]//' | LC_ALL=C sort -u | diff "$2" -
