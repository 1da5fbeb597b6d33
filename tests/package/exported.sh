#!/bin/sh
# exported.sh LIBRARY LIST: fails unless the shared library exports exactly the names in LIST.
set -eu
nm -DC --defined-only "$1" | cut -d' ' -f3- | sed 's/\[abi:cxx11\]//' | LC_ALL=C sort -u | diff "$2" -
