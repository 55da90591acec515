#!/bin/sh
# SPDX-License-Identifier: ISC
# Copyright (c) 2026 The libxtc authors
#
# install.sh: what `make install` does with one file, and with the manual.
#
#	install.sh FROM TO		TO's directory is made; the mode is
#					755 where FROM can be executed, else 644
#	install.sh --man DIR PAGE...	pages into DIR/manN, with a link page
#					for every other name in NAME
#	install.sh --unman DIR PAGE...	away with them
set -e
here=${0%/*}

put()
{
	mkdir -p "${2%/*}"
	rm -f "$2"
	cp "$1" "$2"
	if [ -x "$1" ]; then
		chmod 755 "$2"
	else
		chmod 644 "$2"
	fi
}

case $1 in
--man | --unman)
	how=$1
	dir=$2
	shift 2
	# meson names the place of DESTDIR and prefix in its own way.
	if [ -n "$MESON_INSTALL_DESTDIR_PREFIX" ]; then
		case $dir in
		/*) dir=$DESTDIR$dir ;;
		*) dir=$MESON_INSTALL_DESTDIR_PREFIX/$dir ;;
		esac
	fi
	for page
	do
		base=${page##*/}
		section=${base##*.}
		names=$("${AWK:-awk}" -f "$here/manlinks.awk" "$page")
		if [ "$how" = --unman ]; then
			rm -f "$dir/man$section/$base"
			for name in $names; do
				rm -f "$dir/man$section/$name.$section"
			done
			continue
		fi
		put "$page" "$dir/man$section/$base"
		for name in $names; do
			echo ".so man$section/$base" \
			    > "$dir/man$section/$name.$section"
		done
	done
	;;
*)
	put "$1" "$2"
	;;
esac
