/* SPDX-License-Identifier: ISC */
/* Copyright (c) 2026 The libxtc authors */
/*
 * version.c: which library runs, as opposed to which header was compiled.
 */
#include <stddef.h>

#include "xtc_base.h"

#define VERSION_TEXT(n)		#n
#define VERSION_JOIN(a, b, c) \
	VERSION_TEXT(a) "." VERSION_TEXT(b) "." VERSION_TEXT(c)

const char *
xtc_version_string(void)
{
	return VERSION_JOIN(XTC_VERSION_MAJOR, XTC_VERSION_MINOR,
	    XTC_VERSION_PATCH);
}

int
xtc_version_components(int *major, int *minor, int *patch)
{
	if (major != NULL)
		*major = XTC_VERSION_MAJOR;
	if (minor != NULL)
		*minor = XTC_VERSION_MINOR;
	if (patch != NULL)
		*patch = XTC_VERSION_PATCH;
	return XTC_OK;
}
