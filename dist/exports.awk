# SPDX-License-Identifier: ISC
# Copyright (c) 2026 The libxtc authors
#
# exports.awk: the functions that the library exports, read from the public
# headers: every declaration marked XTC_API, and nothing else.
#
#	awk -v format=elf|macho|mapfile|names -f exports.awk include/*.h
#
# elf is a version script, macho a list for -exported_symbols_list, mapfile
# the form of the illumos linker, names one name a line.

# The text of a line without its comments; in_comment spans lines.
function uncomment(s,	out, a)
{
	out = ""
	for (;;) {
		if (in_comment) {
			a = index(s, "*/")
			if (a == 0)
				return out
			s = substr(s, a + 2)
			in_comment = 0
		}
		a = index(s, "/*")
		if (a == 0)
			return out s
		out = out substr(s, 1, a - 1) " "
		s = substr(s, a + 2)
		in_comment = 1
	}
}

# One declaration: the name is the last word before the first parenthesis
# that does not open an attribute, or before the end for an object.
function declare(s,	name)
{
	if (s !~ /(^|[ \t])XTC_API[ \t]/)
		return
	gsub(/__attribute__[ \t]*\(\([^)]*(\([^)]*\))?[^)]*\)\)/, "", s)
	sub(/[ \t]*[(\[].*/, "", s)
	sub(/[ \t]+$/, "", s)
	name = s
	sub(/.*[^A-Za-z0-9_]/, "", name)
	if (name !~ /^xtc_[a-z0-9_]+$/) {
		print FILENAME ": no name in: " s > "/dev/stderr"
		failed = 1
		return
	}
	names[++n] = name
}

FNR == 1 {
	text = ""
	in_comment = 0
	continued = 0
}

{
	line = uncomment($0)
	if (continued || line ~ /^[ \t]*#/) {
		continued = (line ~ /\\$/)
		next
	}
	# A brace ends what stood before it: extern "C", a struct, a body.
	while (match(line, /[;{}]/)) {
		text = text " " substr(line, 1, RSTART - 1)
		if (substr(line, RSTART, 1) == ";")
			declare(text)
		text = ""
		line = substr(line, RSTART + 1)
	}
	text = text " " line
}

END {
	if (failed)
		exit 1
	for (i = 2; i <= n; i++) {
		name = names[i]
		for (j = i - 1; j >= 1 && names[j] > name; j--)
			names[j + 1] = names[j]
		names[j + 1] = name
	}
	if (format == "elf")
		print "XTC_0 {\n" (n ? "global:" : "")
	else if (format == "mapfile")
		print "$mapfile_version 2\nSYMBOL_VERSION XTC_0 {\nglobal:"
	for (i = 1; i <= n; i++) {
		if (i > 1 && names[i] == names[i - 1])
			continue
		if (format == "elf" || format == "mapfile")
			print "\t" names[i] ";"
		else if (format == "macho")
			print "_" names[i]
		else
			print names[i]
	}
	if (format == "elf" || format == "mapfile")
		print "local:\n\t*;\n};"
}
