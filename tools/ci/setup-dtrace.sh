#!/bin/bash
# SPDX-License-Identifier: ISC
# Copyright (c) 2026 The libxtc authors
#
# Put the real DTrace for Linux (2.0.x, from a newer Debian suite than this machine's) under DEST, without touching the system.
#
#   setup-dtrace.sh DEST [SUITE]     root, Debian, x86-64; SUITE defaults to forky
#
# Afterwards DEST/bin/dtrace is DTrace itself; /usr/bin/dtrace, if present, is SystemTap's script of the same name.
# Exit 0: it runs. Any other exit: this machine cannot have it (no such suite, other CPU, kernel without uprobes).
set -euo pipefail
[ $# -ge 1 ] || { sed -n '5,11p' "$0" >&2; exit 2; }
dest=$(realpath -m "$1"); suite=${2:-forky}
apt_dir=$dest/apt; root=$dest/root; lib=$root/usr/lib/x86_64-linux-gnu
if [ -x "$dest/bin/dtrace" ] && "$dest/bin/dtrace" -V >/dev/null 2>&1; then "$dest/bin/dtrace" -V; exit 0; fi
[ "$(dpkg --print-architecture)" = amd64 ] || { echo "setup-dtrace: only for amd64" >&2; exit 1; }
mkdir -p "$apt_dir/lists/partial" "$apt_dir/cache/archives/partial" "$dest/debs" "$root" "$dest/bin"
command -v patchelf >/dev/null || { apt-get update -qq; DEBIAN_FRONTEND=noninteractive apt-get install -y -qq patchelf >/dev/null; }
# The archive that this machine's own apt uses.
uri=$(apt-get indextargets --format '$(ORIGIN) $(CODENAME) $(REPO_URI)' 'Created-By: Packages' \
      | awk '$1 == "Debian" && $2 !~ /-/ { print $3; exit }')
[ -n "$uri" ] || { echo "setup-dtrace: no Debian archive among apt's sources (run apt-get update first)" >&2; exit 1; }
cat > "$apt_dir/suite.sources" <<X
Types: deb
URIs: $uri
Suites: $suite
Components: main
Signed-By: /usr/share/keyrings/debian-archive-keyring.gpg
X
opts=(-o "Dir::Etc::sourcelist=$apt_dir/suite.sources" -o Dir::Etc::sourceparts=- -o "Dir::State::lists=$apt_dir/lists"
      -o "Dir::Cache=$apt_dir/cache" -o APT::Sandbox::User=root)
apt-get "${opts[@]}" update -qq
pkgs=$(apt-cache "${opts[@]}" depends --recurse --no-recommends --no-suggests --no-conflicts --no-breaks --no-replaces \
       --no-enhances dtrace | grep '^[a-z]' | sort -u)
(cd "$dest/debs" && apt-get "${opts[@]}" download -qq $pkgs)
for d in "$dest"/debs/*.deb; do dpkg -x "$d" "$root"; done
patchelf --set-interpreter "$lib/ld-linux-x86-64.so.2" --force-rpath --set-rpath "$lib" "$root/usr/sbin/dtrace"
rm -f "$lib"/dtrace/[0-9]*/io.d   # wants a kernel symbol that small kernels do not export; no probe of ours needs it
cat > "$dest/bin/dtrace" <<X
#!/bin/sh
exec "$root/usr/sbin/dtrace" -xsyslibdir="$lib/dtrace" "\$@"
X
chmod +x "$dest/bin/dtrace"
"$dest/bin/dtrace" -V
"$dest/bin/dtrace" -qn 'BEGIN { exit(0); }'
