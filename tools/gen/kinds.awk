# SPDX-License-Identifier: ISC
# Copyright (c) 2026 The libxtc authors
#
# kinds.awk: the numbers of include/xtc_kinds.h as a Markdown table, a row a
# family. POSIX awk.
#
#	awk -f tools/gen/kinds.awk include/xtc_kinds.h

function flush() {
	if (family != "")
		printf "| %s | `%s` | %s |\n", title, family, row
	family = ""
}

BEGIN {
	print "| | family | numbers |"
	print "|---|---|---|"
}

/^\/\* .*\*\/$/ {
	title = $0
	sub(/^\/\* /, "", title)
	sub(/(: X\(.*)?\. \*\/$/, "", title)
}

/^#define XTC_[A-Z]+_TABLE\(X\)/ {
	family = $2
	sub(/_TABLE\(X\)$/, "", family)
	row = ""
}

/^\tX\(XTC_/ {
	line = $0
	sub(/^\tX\(/, "", line)
	split(line, field, /, */)
	text = line
	sub(/^[^"]*"/, "", text)
	sub(/".*$/, "", text)
	row = row (row == "" ? "" : ", ") field[2] " " text
	if (line !~ /\\$/)
		flush()
}
