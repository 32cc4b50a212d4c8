/* messages.h: the messages of Pyroscope's API, as its clients send and expect them.
 *
 * Names of fields and their numbers are those of Pyroscope's api/querier/v1, types/v1, settings/v1 and google/v1.
 */
#ifndef PYROSCOPE_MESSAGES_H
#define PYROSCOPE_MESSAGES_H

#include "protobuf_message.h"

extern const struct message message_empty;
extern const struct message message_label_pair, message_labels, message_profile_type, message_google_profile;
extern const struct message message_profile_types_request, message_profile_types_response;
extern const struct message message_label_names_request, message_label_values_request, message_names_response;
extern const struct message message_series_request, message_series_response;
extern const struct message message_select_series_request, message_select_series_response;
extern const struct message message_stacktraces_request, message_stacktraces_response;
extern const struct message message_span_profile_request;
extern const struct message message_merge_profile_request;
extern const struct message message_heatmap_request, message_heatmap_response;
extern const struct message message_diff_request, message_diff_response;
extern const struct message message_stats_response, message_analyze_request;
extern const struct message message_get_settings_response, message_set_settings_request, message_set_settings_response;

enum { LABEL_PAIR_NAME = 1, LABEL_PAIR_VALUE };
enum { LABELS_LABELS = 1 };
enum { PROFILE_TYPE_FIELD_ID = 1, PROFILE_TYPE_NAME, PROFILE_TYPE_SAMPLE = 4, PROFILE_TYPE_UNIT, PROFILE_TYPE_PERIOD,
       PROFILE_TYPE_PERIOD_UNIT };
enum { PROFILE_TYPES_START = 1, PROFILE_TYPES_END };
enum { PROFILE_TYPES_TYPES = 1 };
enum { LABEL_NAMES_MATCHERS = 1, LABEL_NAMES_START, LABEL_NAMES_END };
enum { LABEL_VALUES_NAME = 1, LABEL_VALUES_MATCHERS, LABEL_VALUES_START, LABEL_VALUES_END };
enum { NAMES_NAMES = 1 };
enum { SERIES_MATCHERS = 1, SERIES_LABEL_NAMES, SERIES_START, SERIES_END };
enum { SERIES_LABELS_SET = 2 };

/* The first four are the same in all requests for values except that of spans. */
enum { SELECT_TYPE = 1, SELECT_SELECTOR, SELECT_START, SELECT_END };
enum { SELECT_SERIES_GROUP_BY = 5, SELECT_SERIES_STEP, SELECT_SERIES_AGGREGATION, SELECT_SERIES_STACKS, SELECT_SERIES_LIMIT,
       SELECT_SERIES_EXEMPLARS };
enum { SELECT_SERIES_SERIES = 1 };
enum { SERIES_OF_LABELS = 1, SERIES_OF_POINTS };
enum { POINT_VALUE = 1, POINT_TIMESTAMP, POINT_ANNOTATIONS, POINT_EXEMPLARS };
enum { EXEMPLAR_TIMESTAMP = 1, EXEMPLAR_PROFILE_ID, EXEMPLAR_SPAN_ID, EXEMPLAR_VALUE, EXEMPLAR_LABELS, EXEMPLAR_TRACE_ID };
enum { EXEMPLARS_NONE = 1, EXEMPLARS_INDIVIDUAL, EXEMPLARS_SPAN };

enum { STACKTRACES_MAX_NODES = 5, STACKTRACES_FORMAT, STACKTRACES_STACKS, STACKTRACES_PROFILES, STACKTRACES_ASYNC,
       STACKTRACES_TRACES, STACKTRACES_SPANS };
enum { FORMAT_FLAMEGRAPH = 1, FORMAT_TREE, FORMAT_DOT, FORMAT_PPROF };
enum { STACKTRACES_FLAMEGRAPH = 1, STACKTRACES_TREE, STACKTRACES_DOT, STACKTRACES_ASYNC_ANSWER, STACKTRACES_PPROF };
enum { PPROF_ANSWER_PROFILE = 1 };
enum { SPAN_PROFILE_SPANS = 3, SPAN_PROFILE_START, SPAN_PROFILE_END, SPAN_PROFILE_MAX_NODES, SPAN_PROFILE_FORMAT };
enum { MERGE_MAX_NODES = 5, MERGE_STACKS, MERGE_PROFILES, MERGE_TRACES };
enum { STACKS_CALL_SITE = 1 };
enum { CALL_SITE_NAME = 1 };

enum { HEATMAP_STEP = 5, HEATMAP_GROUP_BY, HEATMAP_QUERY, HEATMAP_EXEMPLARS, HEATMAP_LIMIT };
enum { HEATMAP_OF_INDIVIDUAL = 1, HEATMAP_OF_SPANS };
enum { HEATMAP_SERIES = 1 };
enum { HEATMAP_LABELS = 1, HEATMAP_SLOTS };
enum { SLOT_TIMESTAMP = 1, SLOT_Y_MIN, SLOT_COUNTS, SLOT_EXEMPLARS };

enum { DIFF_LEFT = 1, DIFF_RIGHT };
enum { DIFF_FLAMEGRAPH = 1 };
enum { FLAMEGRAPH_NAMES = 1, FLAMEGRAPH_LEVELS, FLAMEGRAPH_TOTAL, FLAMEGRAPH_MAX_SELF, FLAMEGRAPH_LEFT, FLAMEGRAPH_RIGHT };
enum { LEVEL_VALUES = 1 };

enum { STATS_INGESTED = 1, STATS_OLDEST, STATS_NEWEST };
enum { SETTINGS_SETTINGS = 1 };
enum { SETTING_NAME = 1, SETTING_VALUE, SETTING_MODIFIED };

#endif
