#!/bin/sh
# pkg_config.sh PREFIX SOURCE: compiles an example with what pkg-config says of an installed library, and runs it.
set -eu
prefix=$1 source=$2
pc=$(dirname "$(find "$prefix" -name facesat.pc)")
export PKG_CONFIG_PATH="$pc"
flags=$(pkg-config --define-variable=prefix="$prefix" --cflags --libs facesat)
# shellcheck disable=SC2086
c++ -std=c++20 "$source/examples/cpp/tour.cpp" -o "$prefix/tour" $flags -Wl,-rpath,"$(dirname "$pc")"
"$prefix/tour" | grep 'the sum of all pixels'
