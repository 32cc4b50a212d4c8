/* otlp.h: profiles of OpenTelemetry's protocol, development version 1: the fields that are read or written.
 *
 *	message ExportProfilesServiceRequest				field
 *	  resource_profiles	ResourceProfiles { resource 1, scope_profiles 2 }	1, repeated
 *				Resource { attributes 1: KeyValue, repeated }
 *				ScopeProfiles { scope 1, profiles 2: Profile, repeated }
 *	  dictionary		ProfilesDictionary { mapping 1, location 2, function 3, link 4, string 5, attribute 6,
 *				stack 7 }, each repeated; entry 0 of each is its zero value and stands for "not set"	2
 *	Profile		sample_type 1 ValueType, samples 2 Sample, repeated, time_unix_nano 3 fixed64, duration_nano 4,
 *			period_type 5 ValueType, period 6, profile_id 7, attribute_indices 11
 *	ValueType	type_strindex 1, unit_strindex 2
 *	Sample		stack_index 1, attribute_indices 2, link_index 3, values 4, timestamps_unix_nano 5 fixed64: one value, or
 *			timestamps that count 1 each, or as many of both
 *			up to 1.9: stack_index 1, values 2, attribute_indices 3, link_index 4, timestamps_unix_nano 5
 *	Stack		location_indices 1, the leaf first
 *	Location	mapping_index 1, address 2, lines 3 Line, repeated, the innermost of inlined functions first, attribute_indices 4
 *	Line		function_index 1, line 2
 *	Function	name_strindex 1, system_name_strindex 2, filename_strindex 3, start_line 4
 *	Mapping		filename_strindex 4
 *	KeyValue	key 1, value 2 AnyValue, key_strindex 3
 *	KeyValueAndUnit	key_strindex 1, value 2 AnyValue
 *	AnyValue	string 1, int 3, array 5 { values 1 }, string_strindex 8
 */
#ifndef EXCHANGE_OTLP_H
#define EXCHANGE_OTLP_H

enum { OTLP_RESOURCE_PROFILES = 1, OTLP_DICTIONARY };
enum { OTLP_RESOURCE = 1, OTLP_SCOPE_PROFILES };
enum { OTLP_SCOPE = 1, OTLP_PROFILES };
enum { OTLP_RESOURCE_ATTRIBUTES = 1 };
enum { OTLP_MAPPINGS = 1, OTLP_LOCATIONS, OTLP_FUNCTIONS, OTLP_LINKS, OTLP_STRINGS, OTLP_ATTRIBUTES, OTLP_STACKS };
enum { OTLP_SAMPLE_TYPE = 1,
       OTLP_SAMPLES,
       OTLP_TIME,
       OTLP_DURATION,
       OTLP_PERIOD_TYPE,
       OTLP_PERIOD,
       OTLP_PROFILE_ID,
       OTLP_PROFILE_ATTRIBUTES = 11,
       OTLP_JSON_OLDEST = 16 /* the JSON field of 1.7 or older */ };
enum { OTLP_TYPE = 1, OTLP_UNIT };
enum { OTLP_SAMPLE_STACK = 1, OTLP_SAMPLE_ATTRIBUTES, OTLP_SAMPLE_LINK, OTLP_SAMPLE_VALUES, OTLP_SAMPLE_TIMES };
enum { OTLP_OLD_SAMPLE_VALUES = 2, OTLP_OLD_SAMPLE_ATTRIBUTES, OTLP_OLD_SAMPLE_LINK };
enum { OTLP_STACK_LOCATIONS = 1 };
enum { OTLP_LOCATION_MAPPING = 1, OTLP_LOCATION_ADDRESS, OTLP_LOCATION_LINES, OTLP_LOCATION_ATTRIBUTES };
enum { OTLP_LINE_FUNCTION = 1, OTLP_LINE_LINE };
enum { OTLP_FUNCTION_NAME = 1, OTLP_FUNCTION_SYSTEM_NAME, OTLP_FUNCTION_FILE, OTLP_FUNCTION_START };
enum { OTLP_MAPPING_FILE = 4 };
enum { OTLP_KEY = 1, OTLP_VALUE, OTLP_KEY_INDEX };
enum { OTLP_ANY_STRING = 1, OTLP_ANY_BOOL, OTLP_ANY_INT, OTLP_ANY_DOUBLE, OTLP_ANY_ARRAY, OTLP_ANY_LIST, OTLP_ANY_BYTES,
       OTLP_ANY_STRING_INDEX };

#endif
