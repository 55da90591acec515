# SPDX-License-Identifier: ISC
# Copyright (c) 2026 The libxtc authors
#
# manlinks.awk: the other names a manual page is found under: those in its
# NAME section besides its file's own. Reads man(7) and mdoc(7).
#
#	awk -f manlinks.awk xtc_send.3

FNR == 1 {
	own = FILENAME
	sub(/.*\//, "", own)
	sub(/\.[0-9][a-z]*$/, "", own)
	inside = 0
}

/^\.S[Hh]/ {
	inside = ($2 ~ /^"?NAME"?$/)
	next
}

inside {
	line = $0
	if (line ~ /^\.(Nd|\\")/)
		next
	sub(/^\.[A-Z][A-Za-z]*[ \t]+/, "", line)
	sub(/[ \t]*\\-.*/, "", line)
	gsub(/\\f./, "", line)
	n = split(line, word, /[ ,\t]+/)
	for (i = 1; i <= n; i++)
		if (word[i] ~ /^[A-Za-z_][A-Za-z0-9_-]*$/ && word[i] != own)
			print word[i]
	if ($0 ~ /\\-/)
		inside = 0
}
