/* SPDX-License-Identifier: ISC */
/* Copyright (c) 2026 The libxtc authors */
/*
 * error.c: the texts of the error codes, from the one table in xtc_base.h.
 */
#include "xtc_base.h"

#define ERROR_CASE(name, value, text) \
	case name: \
		return text;

const char *
xtc_strerror(int error)
{
	switch (error) {
	XTC_ERROR_TABLE(ERROR_CASE)
	default:
		return "not an error code of libxtc";
	}
}
