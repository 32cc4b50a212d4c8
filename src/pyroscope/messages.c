/* messages.c: the tables of fields of all messages. */
#include "messages.h"

#include "cleanup.h"

#define TEXT(number, name)	{ number, name, MESSAGE_STRING }
#define TEXTS(number, name)	{ number, name, MESSAGE_STRING, .repeated = true }
#define INT(number, name)	{ number, name, MESSAGE_INT64 }
#define INTS(number, name)	{ number, name, MESSAGE_INT64, .repeated = true }
#define FLAG(number, name)	{ number, name, MESSAGE_BOOL }
#define ONE(number, name, m)	{ number, name, MESSAGE_OF, .of = &(m) }
#define MANY(number, name, m)	{ number, name, MESSAGE_OF, .repeated = true, .of = &(m) }
#define ENUM(number, name, v)	{ number, name, MESSAGE_ENUM, .values = (v) }

#define MESSAGE(variable, text, ...)								\
	static const struct message_field variable##_fields[] = { __VA_ARGS__ };		\
	const struct message variable = { text, variable##_fields, ARRAY_SIZE(variable##_fields) }
#define PART(variable, text, ...)								\
	static const struct message_field variable##_fields[] = { __VA_ARGS__ };		\
	static const struct message variable = { text, variable##_fields, ARRAY_SIZE(variable##_fields) }

static const char *const formats[] = { "PROFILE_FORMAT_UNSPECIFIED", "PROFILE_FORMAT_FLAMEGRAPH", "PROFILE_FORMAT_TREE",
	"PROFILE_FORMAT_DOT", "PROFILE_FORMAT_PPROF", NULL };
static const char *const aggregations[] = { "TIME_SERIES_AGGREGATION_TYPE_SUM", "TIME_SERIES_AGGREGATION_TYPE_AVERAGE",
	NULL };
static const char *const exemplar_types[] = { "EXEMPLAR_TYPE_UNSPECIFIED", "EXEMPLAR_TYPE_NONE", "EXEMPLAR_TYPE_INDIVIDUAL",
	"EXEMPLAR_TYPE_SPAN", NULL };
static const char *const heatmap_types[] = { "HEATMAP_QUERY_TYPE_UNSPECIFIED", "HEATMAP_QUERY_TYPE_INDIVIDUAL",
	"HEATMAP_QUERY_TYPE_SPAN", NULL };

const struct message message_empty = { "an empty message", NULL, 0 };

/* --- types.v1 --- */

MESSAGE(message_label_pair, "LabelPair", TEXT(1, "name"), TEXT(2, "value"));
MESSAGE(message_labels, "Labels", MANY(1, "labels", message_label_pair));
MESSAGE(message_profile_type, "ProfileType", TEXT(1, "ID"), TEXT(2, "name"), TEXT(4, "sample_type"), TEXT(5, "sample_unit"),
	TEXT(6, "period_type"), TEXT(7, "period_unit"));
MESSAGE(message_label_names_request, "LabelNamesRequest", TEXTS(1, "matchers"), INT(2, "start"), INT(3, "end"));
MESSAGE(message_label_values_request, "LabelValuesRequest", TEXT(1, "name"), TEXTS(2, "matchers"), INT(3, "start"),
	INT(4, "end"));
MESSAGE(message_names_response, "LabelNamesResponse", TEXTS(1, "names"));
PART(location, "Location", TEXT(1, "name"));
PART(stack_selector, "StackTraceSelector", MANY(1, "call_site", location));
PART(exemplar, "Exemplar", INT(1, "timestamp"), TEXT(2, "profile_id"), TEXT(3, "span_id"), INT(4, "value"),
	MANY(5, "labels", message_label_pair), TEXT(6, "trace_id"));
PART(point, "Point", { 1, "value", MESSAGE_DOUBLE }, INT(2, "timestamp"), MANY(4, "exemplars", exemplar));
PART(series, "Series", MANY(1, "labels", message_label_pair), MANY(2, "points", point));
MESSAGE(message_stats_response, "GetProfileStatsResponse", FLAG(1, "data_ingested"), INT(2, "oldest_profile_time"),
	INT(3, "newest_profile_time"));

/* --- google.v1 --- */

PART(value_type, "ValueType", INT(1, "type"), INT(2, "unit"));
PART(sample_label, "Label", INT(1, "key"), INT(2, "str"), INT(3, "num"), INT(4, "num_unit"));
PART(sample, "Sample", { 1, "location_id", MESSAGE_UINT64, .repeated = true }, INTS(2, "value"),
	MANY(3, "label", sample_label));
PART(mapping, "Mapping", { 1, "id", MESSAGE_UINT64 }, { 2, "memory_start", MESSAGE_UINT64 },
	{ 3, "memory_limit", MESSAGE_UINT64 }, { 4, "file_offset", MESSAGE_UINT64 }, INT(5, "filename"), INT(6, "build_id"),
	FLAG(7, "has_functions"), FLAG(8, "has_filenames"), FLAG(9, "has_line_numbers"), FLAG(10, "has_inline_frames"));
PART(line, "Line", { 1, "function_id", MESSAGE_UINT64 }, INT(2, "line"));
PART(profile_location, "Location", { 1, "id", MESSAGE_UINT64 }, { 2, "mapping_id", MESSAGE_UINT64 },
	{ 3, "address", MESSAGE_UINT64 }, MANY(4, "line", line), FLAG(5, "is_folded"));
PART(function, "Function", { 1, "id", MESSAGE_UINT64 }, INT(2, "name"), INT(3, "system_name"), INT(4, "filename"),
	INT(5, "start_line"));
MESSAGE(message_google_profile, "Profile", MANY(1, "sample_type", value_type), MANY(2, "sample", sample),
	MANY(3, "mapping", mapping), MANY(4, "location", profile_location), MANY(5, "function", function),
	TEXTS(6, "string_table"), INT(7, "drop_frames"), INT(8, "keep_frames"), INT(9, "time_nanos"), INT(10, "duration_nanos"),
	ONE(11, "period_type", value_type), INT(12, "period"), INTS(13, "comment"), INT(14, "default_sample_type"));

/* --- querier.v1 --- */

MESSAGE(message_profile_types_request, "ProfileTypesRequest", INT(1, "start"), INT(2, "end"));
MESSAGE(message_profile_types_response, "ProfileTypesResponse", MANY(1, "profile_types", message_profile_type));
MESSAGE(message_series_request, "SeriesRequest", TEXTS(1, "matchers"), TEXTS(2, "label_names"), INT(3, "start"), INT(4, "end"));
MESSAGE(message_series_response, "SeriesResponse", MANY(2, "labels_set", message_labels));
MESSAGE(message_select_series_request, "SelectSeriesRequest", TEXT(1, "profile_typeID"), TEXT(2, "label_selector"),
	INT(3, "start"), INT(4, "end"), TEXTS(5, "group_by"), { 6, "step", MESSAGE_DOUBLE }, ENUM(7, "aggregation", aggregations),
	ONE(8, "stack_trace_selector", stack_selector), INT(9, "limit"), ENUM(10, "exemplar_type", exemplar_types));
MESSAGE(message_select_series_response, "SelectSeriesResponse", MANY(1, "series", series));
MESSAGE(message_stacktraces_request, "SelectMergeStacktracesRequest", TEXT(1, "profile_typeID"), TEXT(2, "label_selector"),
	INT(3, "start"), INT(4, "end"), INT(5, "max_nodes"), ENUM(6, "format", formats),
	ONE(7, "stack_trace_selector", stack_selector), TEXTS(8, "profile_id_selector"), TEXTS(10, "trace_id_selector"),
	TEXTS(11, "span_selector"));
PART(level, "Level", INTS(1, "values"));
PART(flame_graph, "FlameGraph", TEXTS(1, "names"), MANY(2, "levels", level), INT(3, "total"), INT(4, "max_self"));
PART(pprof_answer, "PprofProfile", ONE(1, "profile", message_google_profile));
MESSAGE(message_stacktraces_response, "SelectMergeStacktracesResponse", ONE(1, "flamegraph", flame_graph),
	{ 2, "tree", MESSAGE_BYTES }, TEXT(3, "dot"), ONE(5, "pprof", pprof_answer));
MESSAGE(message_span_profile_request, "SelectMergeSpanProfileRequest", TEXT(1, "profile_typeID"), TEXT(2, "label_selector"),
	TEXTS(3, "span_selector"), INT(4, "start"), INT(5, "end"), INT(6, "max_nodes"), ENUM(7, "format", formats));
MESSAGE(message_merge_profile_request, "SelectMergeProfileRequest", TEXT(1, "profile_typeID"), TEXT(2, "label_selector"),
	INT(3, "start"), INT(4, "end"), INT(5, "max_nodes"), ONE(6, "stack_trace_selector", stack_selector),
	TEXTS(7, "profile_id_selector"), TEXTS(8, "trace_id_selector"));
MESSAGE(message_analyze_request, "AnalyzeQueryRequest", INT(2, "start"), INT(3, "end"), TEXT(4, "query"));
MESSAGE(message_heatmap_request, "SelectHeatmapRequest", TEXT(1, "profile_typeID"), TEXT(2, "label_selector"), INT(3, "start"),
	INT(4, "end"), { 5, "step", MESSAGE_DOUBLE }, TEXTS(6, "group_by"), ENUM(7, "query_type", heatmap_types),
	ENUM(8, "exemplar_type", exemplar_types), INT(9, "limit"));
PART(slot, "HeatmapSlot", INT(1, "timestamp"), { 2, "y_min", MESSAGE_DOUBLE, .repeated = true },
	{ 3, "counts", MESSAGE_INT32, .repeated = true }, MANY(4, "exemplars", exemplar));
PART(heatmap_series, "HeatmapSeries", MANY(1, "labels", message_label_pair), MANY(2, "slots", slot));
MESSAGE(message_heatmap_response, "SelectHeatmapResponse", MANY(1, "series", heatmap_series));
MESSAGE(message_diff_request, "DiffRequest", ONE(1, "left", message_stacktraces_request),
	ONE(2, "right", message_stacktraces_request));
PART(flame_graph_diff, "FlameGraphDiff", TEXTS(1, "names"), MANY(2, "levels", level), INT(3, "total"), INT(4, "max_self"),
	INT(5, "leftTicks"), INT(6, "rightTicks"));
MESSAGE(message_diff_response, "DiffResponse", ONE(1, "flamegraph", flame_graph_diff));

/* --- settings.v1 --- */

PART(setting, "Setting", TEXT(1, "name"), TEXT(2, "value"), INT(3, "modifiedAt"));
MESSAGE(message_get_settings_response, "GetSettingsResponse", MANY(1, "settings", setting));
MESSAGE(message_set_settings_request, "SetSettingsRequest", ONE(1, "setting", setting));
MESSAGE(message_set_settings_response, "SetSettingsResponse", ONE(1, "setting", setting));
