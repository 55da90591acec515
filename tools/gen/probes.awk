# SPDX-License-Identifier: ISC
# Copyright (c) 2026 The libxtc authors
#
# probes.awk: everything that is derived from src/xtc_probes.d. POSIX awk.
#
#	awk -v mode=MODE -f tools/gen/probes.awk src/xtc_probes.d
#
# mode=no	xtc_probes.h of a build without probes: the macros do nothing
#		and their arguments are never evaluated
# mode=sdt	xtc_probes.h over the macros of <sys/sdt.h>
# mode=dtrace	xtc_probes.h over the macros that `dtrace -h` writes, from
#		the file named by -v header=NAME (xtc_probes_dtrace.h)
# mode=sim	xtc_probes_sim.h of the simulator's build: each probe is a call
# mode=list	one line a probe: its name in SDT tools, then name:type for
#		each argument
# mode=table	the catalogue as a Markdown table
# mode=man	the catalogue as an mdoc(7) list
#
# A declaration that does not have the shape described on top of the .d file
# is an error: nothing is derived from half a catalogue.

function fail(text) {
	printf "probes.awk: %s:%d: %s\n", FILENAME, FNR, text > "/dev/stderr"
	failed = 1
	exit 1
}

function trim(s) {
	sub(/^[ \t]+/, "", s)
	sub(/[ \t]+$/, "", s)
	return s
}

function join(a, b) {
	return a == "" ? b : (b == "" ? a : a " " b)
}

# One line of the comment before a declaration, without its decoration.
function comment_line(s) {
	s = trim(s)
	sub(/^\/\*[ \t]*/, "", s)
	sub(/[ \t]*\*\/$/, "", s)
	sub(/^\*[ \t]*/, "", s)
	if (s == "")
		return
	if (s ~ /^Fires /)
		part = "fires"
	else if (s ~ /^Arguments: /) {
		part = "args"
		sub(/^Arguments: /, "", s)
	} else if (s ~ /^Not /)
		part = "not"
	else if (s ~ /^Stability: /) {
		part = "stability"
		sub(/^Stability: /, "", s)
	} else if (part == "")
		fail("a comment that does not begin with \"Fires\"")
	text[part] = join(text[part], s)
}

# One argument of a declaration: "type name", the star on either side.
function argument(s, words, n, type, name) {
	s = trim(s)
	gsub(/\*/, " * ", s)
	n = split(trim(s), words, /[ \t]+/)
	if (n < 2)
		fail("an argument without a name: " s)
	name = words[n]
	type = words[1]
	if (n == 3 && words[2] == "*")
		type = type " *"
	else if (n != 2)
		fail("an argument that is no type and a name: " s)
	if (type != "int" && type != "int64_t" && type != "uint64_t" &&
	    type != "uintptr_t" && type != "char *")
		fail("a type that D does not bring along: " type)
	nargs[nprobes]++
	argtype[nprobes, nargs[nprobes]] = type
	argname[nprobes, nargs[nprobes]] = name
	if (index(" " text["args"], " " name ",") == 0)
		fail("argument " name " is not explained")
}

function declaration(s, open, list, n, parts, i) {
	sub(/^probe[ \t]+/, "", s)
	open = index(s, "(")
	sub(/\)[ \t]*;$/, "", s)
	nprobes++
	probe[nprobes] = trim(substr(s, 1, open - 1))
	if (probe[nprobes] !~ /^[a-z_]+$/)
		fail("a probe name that is not one: " probe[nprobes])
	if (probe[nprobes] in seen)
		fail("declared twice: " probe[nprobes])
	seen[probe[nprobes]] = 1
	if (text["fires"] == "" || text["args"] == "" ||
	    text["not"] == "" || text["stability"] == "")
		fail("the comment of " probe[nprobes] " lacks a part")
	list = substr(s, open + 1)
	nargs[nprobes] = 0
	n = split(list, parts, ",")
	for (i = 1; i <= n; i++)
		argument(parts[i])
	if (n < 1 || n > 6)
		fail("one to six arguments, please: " probe[nprobes])
	fires[nprobes] = text["fires"]
	argtext[nprobes] = text["args"]
	nottext[nprobes] = text["not"]
	stability[nprobes] = text["stability"]
	text["fires"] = text["args"] = text["not"] = text["stability"] = ""
	part = ""
}

BEGIN {
	if (mode !~ /^(no|sdt|dtrace|sim|list|table|man)$/) {
		print "probes.awk: -v mode=no|sdt|dtrace|sim|list|table|man" \
		    > "/dev/stderr"
		failed = 1
		exit 1
	}
	if (header == "")
		header = "xtc_probes_dtrace.h"
}

/^provider / {
	if ($2 != "xtc")
		fail("the provider is xtc")
	inside = 1
	next
}

/^};?[ \t]*$/ {
	inside = 0
	next
}

!inside {
	next
}

!decl && /^[ \t]*\/\*/ {
	incomment = 1
}

incomment {
	comment_line($0)
	if ($0 ~ /\*\//)
		incomment = 0
	next
}

/^[ \t]*$/ {
	next
}

{
	if (!decl && $1 != "probe")
		fail("neither a comment nor a probe: " $0)
	decl = 1
	pending = join(pending, trim($0))
	if (pending ~ /\)[ \t]*;$/) {
		declaration(pending)
		pending = ""
		decl = 0
	}
}

function macro(i, s) {
	s = probe[i]
	gsub(/__/, "_", s)
	return "XTC_" toupper(s)
}

function dashed(i, s) {
	s = probe[i]
	gsub(/__/, "-", s)
	return s
}

function names(i, sep, s, j) {
	for (j = 1; j <= nargs[i]; j++)
		s = s (j > 1 ? sep : "") argname[i, j]
	return s
}

# The arguments cast to their declared types, one a line.
function casts(i, s, j, type, plain) {
	plain = "char *)(uintptr_t"
	for (j = 1; j <= nargs[i]; j++) {
		type = argtype[i, j]
		if (type == "char *")
			type = mode == "sdt" ? "const char *" : plain
		s = s (j > 1 ? ", \\\n" : "") \
		    "\t    (" type ")(" argname[i, j] ")"
	}
	return s
}

function typed(i, s, j, type) {
	for (j = 1; j <= nargs[i]; j++) {
		type = argtype[i, j]
		s = s (j > 1 ? ", " : "") type \
		    (type ~ /\*$/ ? "" : " ") argname[i, j]
	}
	return s
}

function header_top() {
	print "/* Derived from src/xtc_probes.d by tools/gen/probes.awk. */"
	print "#ifndef XTC_PROBES_H"
	print "#define XTC_PROBES_H"
	print ""
}

# A leaf function that holds nothing but a probe gets no frame from gcc, and a
# tracer would then not see its caller; a use of the frame's address forces
# one, and costs no instruction where there is one already.
function header_on() {
	print "#define XTC_PROBES_ON 1"
	print "#define XTC_PROBE_ONLY(...) __VA_ARGS__"
	print "#define XTC_PROBE_FRAME() \\"
	print "\t__asm__ volatile(\"\" : : \"r\" (__builtin_frame_address(0)))"
	print ""
}

function header_no(i) {
	header_top()
	print "#define XTC_PROBES_ON 0"
	print "#define XTC_PROBE_ONLY(...)"
	print "#define XTC_PROBE_FRAME() ((void)0)"
	print ""
	for (i = 1; i <= nprobes; i++)
		printf "#define %s(%s) ((void)0)\n", macro(i), names(i, ", ")
	print "\n#endif"
}

function header_sdt(i) {
	header_top()
	print "#ifdef _SYS_SDT_H"
	print "#error \"sys/sdt.h came first: its constraint is set here\""
	print "#endif"
	print "#ifndef STAP_SDT_ARG_CONSTRAINT"
	print "#define STAP_SDT_ARG_CONSTRAINT nr"
	print "#endif"
	print "#include <stdint.h>"
	print "#include <sys/sdt.h>\n"
	header_on()
	for (i = 1; i <= nprobes; i++) {
		printf "#define %s(%s) do { \\\n", macro(i), names(i, ", ")
		print "\tXTC_PROBE_FRAME(); \\"
		printf "\tSTAP_PROBE%d(xtc, %s, \\\n", nargs[i], probe[i]
		print casts(i) "); \\"
		print "} while (0)\n"
	}
	print "#endif"
}

# dtrace -h names its macros as ours are named. An inline function keeps what
# its macro does, and then the name is free for a macro that casts.
function header_dtrace(i, fn) {
	header_top()
	print "#ifndef STAP_SDT_ARG_CONSTRAINT"
	print "#define STAP_SDT_ARG_CONSTRAINT nr"
	print "#endif"
	print "#include <stdint.h>"
	printf "#include \"%s\"\n\n", header
	header_on()
	for (i = 1; i <= nprobes; i++) {
		fn = "xtc__probe_" probe[i]
		print "static inline __attribute__((__always_inline__)) void"
		printf "%s(%s)\n{\n", fn, typed(i)
		printf "\t%s(%s);\n}\n", macro(i), names(i, ", ")
		printf "#undef %s\n", macro(i)
		printf "#define %s(%s) do { \\\n", macro(i), names(i, ", ")
		print "\tXTC_PROBE_FRAME(); \\"
		printf "\t%s( \\\n%s); \\\n", fn, casts(i)
		print "} while (0)\n"
	}
	print "#endif"
}

# Every argument as 64 bits; what is no pointer keeps its sign.
function header_sim(i, j, type) {
	header_top()
	print "#include <stdint.h>\n"
	print "#define XTC_PROBES_ON 0"
	print "#define XTC_PROBE_ONLY(...) __VA_ARGS__"
	print "#define XTC_PROBE_FRAME() ((void)0)\n"
	print "enum xtc__sim_probe_id {"
	for (i = 1; i <= nprobes; i++)
		print "\t" sim_name(i) (i < nprobes ? "," : "")
	print "};\n"
	print "void\txtc__sim_probe(unsigned probe, const uint64_t *args);\n"
	for (i = 1; i <= nprobes; i++) {
		printf "#define %s(%s) \\\n", macro(i), names(i, ", ")
		printf "\txtc__sim_probe(%s, (const uint64_t[]){", sim_name(i)
		for (j = 1; j <= nargs[i]; j++) {
			type = "uint64_t"
			if (argtype[i, j] ~ /\*$|^uintptr_t$/)
				type = "uintptr_t"
			printf "%s \\\n\t    (%s)(%s)", (j > 1 ? "," : ""),
			    type, argname[i, j]
		}
		print " })\n"
	}
	print "#endif"
}

function sim_name(i) {
	return "XTC__SIM_" substr(macro(i), 5)
}

function print_list(i, j, s, type) {
	for (i = 1; i <= nprobes; i++) {
		s = probe[i]
		for (j = 1; j <= nargs[i]; j++) {
			type = argtype[i, j]
			gsub(/ /, "", type)
			s = s " " argname[i, j] ":" type
		}
		print s
	}
}

function print_table(i) {
	print "| probe | arguments | when |"
	print "|---|---|---|"
	for (i = 1; i <= nprobes; i++)
		printf "| `%s` | %s | %s %s |\n", dashed(i), argtext[i],
		    fires[i], nottext[i]
}

# A line that begins with a dot or a quote would be a request, so a sentence
# starts a new line only after the text before it has ended one.
function man_text(s) {
	gsub(/\\/, "\\e", s)
	gsub(/\. /, ".\n", s)
	print s
}

function print_man(i, j) {
	print ".Bl -tag -width 4n"
	for (i = 1; i <= nprobes; i++) {
		printf ".It Fn %s", dashed(i)
		for (j = 1; j <= nargs[i]; j++)
			printf " \"%s%s%s\"", argtype[i, j],
			    (argtype[i, j] ~ /\*$/ ? "" : " "), argname[i, j]
		print ""
		man_text(fires[i])
		man_text("Arguments: " argtext[i])
		man_text(nottext[i])
		man_text("Stability: " stability[i])
	}
	print ".El"
}

END {
	if (failed)
		exit 1
	if (inside || decl || incomment || nprobes == 0)
		fail("the provider block has no end")
	if (mode == "no")
		header_no()
	else if (mode == "sdt")
		header_sdt()
	else if (mode == "dtrace")
		header_dtrace()
	else if (mode == "sim")
		header_sim()
	else if (mode == "list")
		print_list()
	else if (mode == "table")
		print_table()
	else
		print_man()
}
