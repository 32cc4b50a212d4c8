/* otlp_messages.c: tables of fields from opentelemetry-proto. */
#include "otlp_messages.h"

#include "mem.h"
#include "otlp.h"

#define OF(number, name, of)		{ number, name, MESSAGE_OF, false, of, NULL }
#define LIST_OF(number, name, of)	{ number, name, MESSAGE_OF, true, of, NULL }
#define INT32(number, name)		{ number, name, MESSAGE_INT32, false, NULL, NULL }
#define INT64(number, name)		{ number, name, MESSAGE_INT64, false, NULL, NULL }
#define UINT64(number, name)		{ number, name, MESSAGE_UINT64, false, NULL, NULL }
#define STRING(number, name)		{ number, name, MESSAGE_STRING, false, NULL, NULL }
#define INT32S(number, name)		{ number, name, MESSAGE_INT32, true, NULL, NULL }
#define MESSAGE(label, fields)		{ label, fields, ARRAY_SIZE(fields) }

/* --- Values. Arrays are read one level deep --- */

static const struct message_field plain_value_fields[] = {
	STRING(OTLP_ANY_STRING, "string_value"), INT64(OTLP_ANY_INT, "int_value"),
	INT32(OTLP_ANY_STRING_INDEX, "string_value_strindex"),
};
static const struct message plain_value = MESSAGE("AnyValue", plain_value_fields);

static const struct message_field array_fields[] = { LIST_OF(1, "values", &plain_value) };
static const struct message array = MESSAGE("ArrayValue", array_fields);

static const struct message_field value_fields[] = {
	STRING(OTLP_ANY_STRING, "string_value"), INT64(OTLP_ANY_INT, "int_value"), OF(OTLP_ANY_ARRAY, "array_value", &array),
	INT32(OTLP_ANY_STRING_INDEX, "string_value_strindex"),
};
static const struct message value = MESSAGE("AnyValue", value_fields);

static const struct message_field pair_fields[] = {
	STRING(OTLP_KEY, "key"), OF(OTLP_VALUE, "value", &value), INT32(OTLP_KEY_INDEX, "key_strindex"),
};
static const struct message pair = MESSAGE("KeyValue", pair_fields);

static const struct message_field attribute_fields[] = {
	INT32(OTLP_KEY, "key_strindex"), OF(OTLP_VALUE, "value", &value), INT32(3, "unit_strindex"),
};
static const struct message attribute = MESSAGE("KeyValueAndUnit", attribute_fields);

/* --- The dictionary --- */

static const struct message_field mapping_fields[] = {
	UINT64(1, "memory_start"), UINT64(2, "memory_limit"), UINT64(3, "file_offset"), INT32(OTLP_MAPPING_FILE, "filename_strindex"),
	INT32S(5, "attribute_indices"),
};
static const struct message mapping = MESSAGE("Mapping", mapping_fields);

static const struct message_field line_fields[] = {
	INT32(OTLP_LINE_FUNCTION, "function_index"), INT64(OTLP_LINE_LINE, "line"), INT64(3, "column"),
};
static const struct message line = MESSAGE("Line", line_fields);

static const struct message_field location_fields[] = {
	INT32(OTLP_LOCATION_MAPPING, "mapping_index"), UINT64(OTLP_LOCATION_ADDRESS, "address"),
	LIST_OF(OTLP_LOCATION_LINES, "lines", &line), LIST_OF(OTLP_LOCATION_LINES, "line", &line),
	INT32S(OTLP_LOCATION_ATTRIBUTES, "attribute_indices"),
};
static const struct message location = MESSAGE("Location", location_fields);

static const struct message_field function_fields[] = {
	INT32(OTLP_FUNCTION_NAME, "name_strindex"), INT32(OTLP_FUNCTION_SYSTEM_NAME, "system_name_strindex"),
	INT32(OTLP_FUNCTION_FILE, "filename_strindex"), INT64(OTLP_FUNCTION_START, "start_line"),
};
static const struct message function = MESSAGE("Function", function_fields);

static const struct message_field stack_fields[] = { INT32S(OTLP_STACK_LOCATIONS, "location_indices") };
static const struct message stack = MESSAGE("Stack", stack_fields);

static const struct message_field dictionary_fields[] = {
	LIST_OF(OTLP_MAPPINGS, "mapping_table", &mapping), LIST_OF(OTLP_LOCATIONS, "location_table", &location),
	LIST_OF(OTLP_FUNCTIONS, "function_table", &function),
	{ OTLP_STRINGS, "string_table", MESSAGE_STRING, true, NULL, NULL },
	LIST_OF(OTLP_ATTRIBUTES, "attribute_table", &attribute), LIST_OF(OTLP_STACKS, "stack_table", &stack),
};
static const struct message dictionary = MESSAGE("ProfilesDictionary", dictionary_fields);

/* --- Profiles --- */

static const struct message_field type_fields[] = { INT32(OTLP_TYPE, "type_strindex"), INT32(OTLP_UNIT, "unit_strindex") };
static const struct message type = MESSAGE("ValueType", type_fields);

static const struct message_field sample_fields[] = {
	INT32(OTLP_SAMPLE_STACK, "stack_index"), INT32S(OTLP_SAMPLE_ATTRIBUTES, "attribute_indices"),
	INT32(OTLP_SAMPLE_LINK, "link_index"), { OTLP_SAMPLE_VALUES, "values", MESSAGE_INT64, true, NULL, NULL },
	{ OTLP_SAMPLE_TIMES, "timestamps_unix_nano", MESSAGE_UINT64, true, NULL, NULL },
};
static const struct message sample = MESSAGE("Sample", sample_fields);

/* "location_indices" identifies 1.7 and older. */
static const struct message_field profile_fields[] = {
	OF(OTLP_SAMPLE_TYPE, "sample_type", &type), LIST_OF(OTLP_SAMPLES, "samples", &sample), LIST_OF(OTLP_SAMPLES, "sample", &sample),
	UINT64(OTLP_TIME, "time_unix_nano"), UINT64(OTLP_DURATION, "duration_nano"), OF(OTLP_PERIOD_TYPE, "period_type", &type),
	INT64(OTLP_PERIOD, "period"), INT32S(OTLP_PROFILE_ATTRIBUTES, "attribute_indices"),
	INT32S(OTLP_JSON_OLDEST, "location_indices"),
};
static const struct message profile = MESSAGE("Profile", profile_fields);

static const struct message_field scope_fields[] = { LIST_OF(OTLP_PROFILES, "profiles", &profile) };
static const struct message scope = MESSAGE("ScopeProfiles", scope_fields);

static const struct message_field resource_fields[] = { LIST_OF(OTLP_RESOURCE_ATTRIBUTES, "attributes", &pair) };
static const struct message resource = MESSAGE("Resource", resource_fields);

static const struct message_field resource_profiles_fields[] = {
	OF(OTLP_RESOURCE, "resource", &resource), LIST_OF(OTLP_SCOPE_PROFILES, "scope_profiles", &scope),
};
static const struct message resource_profiles = MESSAGE("ResourceProfiles", resource_profiles_fields);

static const struct message_field request_fields[] = {
	LIST_OF(OTLP_RESOURCE_PROFILES, "resource_profiles", &resource_profiles), OF(OTLP_DICTIONARY, "dictionary", &dictionary),
};
const struct message message_otlp_request = MESSAGE("ExportProfilesServiceRequest", request_fields);

/* --- Answers --- */

static const struct message_field partial_fields[] = {
	INT64(OTLP_REJECTED_PROFILES, "rejected_profiles"), STRING(OTLP_ERROR_MESSAGE, "error_message"),
};
static const struct message partial = MESSAGE("ExportProfilesPartialSuccess", partial_fields);

static const struct message_field response_fields[] = { OF(OTLP_PARTIAL_SUCCESS, "partial_success", &partial) };
const struct message message_otlp_response = MESSAGE("ExportProfilesServiceResponse", response_fields);

static const struct message_field status_fields[] = { INT32(RPC_STATUS_CODE, "code"), STRING(RPC_STATUS_MESSAGE, "message") };
const struct message message_rpc_status = MESSAGE("Status", status_fields);
