/* arginfo.h: signatures, documented in strobe.stub.php; a test compares the two. */
#ifndef STROBE_ARGINFO_H
#define STROBE_ARGINFO_H

#include "php.h"

ZEND_BEGIN_ARG_WITH_RETURN_TYPE_INFO_EX(arginfo_strobe_add_label, 0, 2, IS_VOID, 0)
	ZEND_ARG_TYPE_INFO(0, key, IS_STRING, 0)
	ZEND_ARG_TYPE_INFO(0, value, IS_STRING, 0)
ZEND_END_ARG_INFO()

ZEND_BEGIN_ARG_WITH_RETURN_TYPE_INFO_EX(arginfo_strobe_remove_label, 0, 1, _IS_BOOL, 0)
	ZEND_ARG_TYPE_INFO(0, key, IS_STRING, 0)
ZEND_END_ARG_INFO()

ZEND_BEGIN_ARG_WITH_RETURN_TYPE_INFO_EX(arginfo_strobe_with_labels, 0, 2, IS_MIXED, 0)
	ZEND_ARG_TYPE_INFO(0, labels, IS_ARRAY, 0)
	ZEND_ARG_TYPE_INFO(0, f, IS_CALLABLE, 0)
ZEND_END_ARG_INFO()

ZEND_BEGIN_ARG_WITH_RETURN_TYPE_INFO_EX(arginfo_strobe_set_entry, 0, 1, IS_VOID, 0)
	ZEND_ARG_TYPE_INFO(0, name, IS_STRING, 0)
ZEND_END_ARG_INFO()

ZEND_BEGIN_ARG_WITH_RETURN_TYPE_INFO_EX(arginfo_strobe_set_attribute, 0, 2, IS_VOID, 0)
	ZEND_ARG_TYPE_INFO(0, key, IS_STRING, 0)
	ZEND_ARG_TYPE_MASK(0, value, MAY_BE_STRING | MAY_BE_LONG | MAY_BE_DOUBLE | MAY_BE_BOOL, NULL)
ZEND_END_ARG_INFO()

ZEND_BEGIN_ARG_WITH_RETURN_TYPE_INFO_EX(arginfo_strobe_trace_request, 0, 0, _IS_BOOL, 0)
	ZEND_ARG_TYPE_INFO_WITH_DEFAULT_VALUE(0, keep, IS_STRING, 0, "\"\"")
ZEND_END_ARG_INFO()

ZEND_BEGIN_ARG_WITH_RETURN_TYPE_INFO_EX(arginfo_strobe_array, 0, 0, IS_ARRAY, 0)
ZEND_END_ARG_INFO()

ZEND_BEGIN_ARG_WITH_RETURN_TYPE_INFO_EX(arginfo_strobe_bool, 0, 0, _IS_BOOL, 0)
ZEND_END_ARG_INFO()

ZEND_BEGIN_ARG_INFO_EX(arginfo_strobe_private, 0, 0, 0)
ZEND_END_ARG_INFO()

ZEND_BEGIN_ARG_WITH_RETURN_OBJ_INFO_EX(arginfo_strobe_trace_start, 0, 0, Strobe\\Trace, 0)
	ZEND_ARG_TYPE_INFO_WITH_DEFAULT_VALUE(0, metrics, IS_LONG, 0,
		"\\Strobe\\WALL | \\Strobe\\CPU | \\Strobe\\MEMORY | \\Strobe\\PEAK_MEMORY")
	ZEND_ARG_TYPE_INFO_WITH_DEFAULT_VALUE(0, options, IS_ARRAY, 0, "[]")
ZEND_END_ARG_INFO()

ZEND_BEGIN_ARG_WITH_RETURN_OBJ_INFO_EX(arginfo_strobe_stop, 0, 0, Strobe\\Profile, 0)
ZEND_END_ARG_INFO()

ZEND_BEGIN_ARG_INFO_EX(arginfo_strobe_sampler_construct, 0, 0, 0)
	ZEND_ARG_TYPE_INFO_WITH_DEFAULT_VALUE(0, period, IS_DOUBLE, 0, "0.01")
	ZEND_ARG_TYPE_INFO_WITH_DEFAULT_VALUE(0, clock, IS_STRING, 0, "'wall'")
	ZEND_ARG_TYPE_INFO_WITH_DEFAULT_VALUE(0, maxDepth, IS_LONG, 0, "512")
ZEND_END_ARG_INFO()

ZEND_BEGIN_ARG_WITH_RETURN_TYPE_INFO_EX(arginfo_strobe_void, 0, 0, IS_VOID, 0)
ZEND_END_ARG_INFO()

ZEND_BEGIN_ARG_WITH_RETURN_TYPE_INFO_EX(arginfo_strobe_int_or_null, 0, 0, IS_LONG, 1)
ZEND_END_ARG_INFO()

ZEND_BEGIN_ARG_WITH_RETURN_TYPE_INFO_EX(arginfo_strobe_int, 0, 0, IS_LONG, 0)
ZEND_END_ARG_INFO()

ZEND_BEGIN_ARG_WITH_RETURN_TYPE_INFO_EX(arginfo_strobe_float, 0, 0, IS_DOUBLE, 0)
ZEND_END_ARG_INFO()

ZEND_BEGIN_ARG_WITH_RETURN_TYPE_INFO_EX(arginfo_strobe_string, 0, 0, IS_STRING, 0)
ZEND_END_ARG_INFO()

ZEND_BEGIN_ARG_WITH_RETURN_TYPE_INFO_EX(arginfo_strobe_folded, 0, 0, IS_STRING, 0)
	ZEND_ARG_TYPE_INFO_WITH_DEFAULT_VALUE(0, metric, IS_STRING, 1, "null")
ZEND_END_ARG_INFO()

ZEND_BEGIN_ARG_WITH_RETURN_TYPE_INFO_EX(arginfo_strobe_speedscope, 0, 0, IS_ARRAY, 0)
	ZEND_ARG_TYPE_INFO_WITH_DEFAULT_VALUE(0, metric, IS_STRING, 1, "null")
ZEND_END_ARG_INFO()

ZEND_BEGIN_ARG_WITH_RETURN_TYPE_INFO_EX(arginfo_strobe_save, 0, 1, IS_STRING, 0)
	ZEND_ARG_TYPE_INFO(0, source, IS_STRING, 0)
	ZEND_ARG_TYPE_INFO_WITH_DEFAULT_VALUE(0, name, IS_STRING, 1, "null")
	ZEND_ARG_TYPE_INFO_WITH_DEFAULT_VALUE(0, labels, IS_ARRAY, 0, "[]")
ZEND_END_ARG_INFO()

/* clang mistakes the \U in the class name for a universal character name. */
#ifdef __clang__
#pragma clang diagnostic push
#pragma clang diagnostic ignored "-Wunicode"
#endif
ZEND_BEGIN_ARG_WITH_RETURN_OBJ_INFO_EX(arginfo_strobe_unit_begin, 0, 1, Strobe\\Unit, 0)
	ZEND_ARG_TYPE_INFO(0, name, IS_STRING, 0)
	ZEND_ARG_TYPE_INFO_WITH_DEFAULT_VALUE(0, labels, IS_ARRAY, 0, "[]")
	ZEND_ARG_TYPE_INFO_WITH_DEFAULT_VALUE(0, options, IS_ARRAY, 0, "[]")
ZEND_END_ARG_INFO()
#ifdef __clang__
#pragma clang diagnostic pop
#endif

ZEND_BEGIN_ARG_WITH_RETURN_TYPE_INFO_EX(arginfo_strobe_unit_run, 0, 2, IS_MIXED, 0)
	ZEND_ARG_TYPE_INFO(0, name, IS_STRING, 0)
	ZEND_ARG_TYPE_INFO(0, f, IS_CALLABLE, 0)
	ZEND_ARG_TYPE_INFO_WITH_DEFAULT_VALUE(0, labels, IS_ARRAY, 0, "[]")
	ZEND_ARG_TYPE_INFO_WITH_DEFAULT_VALUE(0, options, IS_ARRAY, 0, "[]")
ZEND_END_ARG_INFO()

ZEND_BEGIN_ARG_WITH_RETURN_TYPE_INFO_EX(arginfo_strobe_unit_end, 0, 0, IS_VOID, 0)
	ZEND_ARG_TYPE_INFO_WITH_DEFAULT_VALUE(0, failed, _IS_BOOL, 0, "false")
ZEND_END_ARG_INFO()

ZEND_METHOD(Strobe_Unit, __construct);
ZEND_METHOD(Strobe_Unit, begin);
ZEND_METHOD(Strobe_Unit, run);
ZEND_METHOD(Strobe_Unit, end);
ZEND_METHOD(Strobe_Unit, isRunning);
ZEND_METHOD(Strobe_Trace, __construct);
ZEND_METHOD(Strobe_Trace, start);
ZEND_METHOD(Strobe_Trace, stop);
ZEND_METHOD(Strobe_Trace, isRunning);
ZEND_METHOD(Strobe_Sampler, __construct);
ZEND_METHOD(Strobe_Sampler, start);
ZEND_METHOD(Strobe_Sampler, stop);
ZEND_METHOD(Strobe_Sampler, isRunning);
ZEND_METHOD(Strobe_Profile, __construct);
ZEND_METHOD(Strobe_Profile, count);
ZEND_METHOD(Strobe_Profile, getMetrics);
ZEND_METHOD(Strobe_Profile, getStartTime);
ZEND_METHOD(Strobe_Profile, getDuration);
ZEND_METHOD(Strobe_Profile, getFoldedCalls);
ZEND_METHOD(Strobe_Profile, getUnchartedCalls);
ZEND_METHOD(Strobe_Profile, getTotals);
ZEND_METHOD(Strobe_Profile, getFunctions);
ZEND_METHOD(Strobe_Profile, toFolded);
ZEND_METHOD(Strobe_Profile, toSpeedscope);
ZEND_METHOD(Strobe_Profile, toXhprof);
ZEND_METHOD(Strobe_Profile, toPprof);
ZEND_METHOD(Strobe_Profile, jsonSerialize);
ZEND_METHOD(Strobe_Profile, save);

#endif
