// OTLP profiles by their .proto text, in the layouts of 1.9 and of 1.10.
const common = `
syntax = "proto3";
message KeyValue { string key = 1; AnyValue value = 2; int32 key_strindex = 3; }
message ArrayValue { repeated AnyValue values = 1; }
message AnyValue { oneof value { string string_value = 1; bool bool_value = 2; int64 int_value = 3; double double_value = 4;
  ArrayValue array_value = 5; bytes bytes_value = 7; int32 string_value_strindex = 8; } }
message Resource { repeated KeyValue attributes = 1; }
message ExportProfilesServiceRequest { repeated ResourceProfiles resource_profiles = 1; ProfilesDictionary dictionary = 2; }
message ExportProfilesServiceResponse { ExportProfilesPartialSuccess partial_success = 1; }
message ExportProfilesPartialSuccess { int64 rejected_profiles = 1; string error_message = 2; }
message Status { int32 code = 1; string message = 2; }
message ProfilesDictionary { repeated Mapping mapping_table = 1; repeated Location location_table = 2;
  repeated Function function_table = 3; repeated Link link_table = 4; repeated string string_table = 5;
  repeated KeyValueAndUnit attribute_table = 6; repeated Stack stack_table = 7; }
message ResourceProfiles { Resource resource = 1; repeated ScopeProfiles scope_profiles = 2; string schema_url = 3; }
message InstrumentationScope { string name = 1; string version = 2; }
message ScopeProfiles { InstrumentationScope scope = 1; repeated Profile profiles = 2; string schema_url = 3; }
message ValueType { int32 type_strindex = 1; int32 unit_strindex = 2; }
message Profile { ValueType sample_type = 1; repeated Sample samples = 2; fixed64 time_unix_nano = 3; uint64 duration_nano = 4;
  ValueType period_type = 5; int64 period = 6; bytes profile_id = 7; uint32 dropped_attributes_count = 8;
  repeated int32 attribute_indices = 11; }
message Stack { repeated int32 location_indices = 1; }
message Location { int32 mapping_index = 1; uint64 address = 2; repeated Line lines = 3; repeated int32 attribute_indices = 4; }
message Line { int32 function_index = 1; int64 line = 2; int64 column = 3; }
message Function { int32 name_strindex = 1; int32 system_name_strindex = 2; int32 filename_strindex = 3; int64 start_line = 4; }
message Mapping { uint64 memory_start = 1; uint64 memory_limit = 2; uint64 file_offset = 3; int32 filename_strindex = 4;
  repeated int32 attribute_indices = 5; }
message Link { bytes trace_id = 1; bytes span_id = 2; }
message KeyValueAndUnit { int32 key_strindex = 1; AnyValue value = 2; int32 unit_strindex = 3; }
`;

export const proto110 = common + `message Sample { int32 stack_index = 1; repeated int32 attribute_indices = 2; int32 link_index = 3;
  repeated int64 values = 4; repeated fixed64 timestamps_unix_nano = 5; }`;
export const proto109 = common + `message Sample { int32 stack_index = 1; repeated int64 values = 2; repeated int32 attribute_indices = 3;
  int32 link_index = 4; repeated fixed64 timestamps_unix_nano = 5; }`;
export const protoPush = `
syntax = "proto3";
message PushRequest { repeated RawProfileSeries series = 1; }
message RawProfileSeries { repeated LabelPair labels = 1; repeated RawSample samples = 2; }
message LabelPair { string name = 1; string value = 2; }
message RawSample { bytes raw_profile = 1; string ID = 2; }
`;

// Two PHP stacks and a native frame without symbols; sample i has `values[i]`.
export function request(nowNs, service, { values = [[1, 7], [2, 5]], attributes = [], times = null } = {}) {
	const strings = ["", "samples", "count", "cpu", "nanoseconds", "main", "/srv/shop.php", "Cart::total", "region", "eu", "/usr/lib/libc.so.6",
		"thread.id", "profile.frame.type", "php"];
	return {
		resourceProfiles: [{
			resource: { attributes: [{ key: "service.name", value: { stringValue: service } },
				{ key: "k8s.pod.name", value: { arrayValue: { values: [{ stringValue: "pod-1" }] } } },
				{ key: "process.pid", value: { intValue: 77 } }] },
			scopeProfiles: [{ profiles: [{
				sampleType: { typeStrindex: 1, unitStrindex: 2 }, periodType: { typeStrindex: 3, unitStrindex: 4 }, period: 50000000,
				timeUnixNano: String(nowNs), durationNano: 1000000000,
				samples: values.map(([stack, value]) => ({ stackIndex: stack, values: [value],
					...(times ? { timestampsUnixNano: [times] } : {}), attributeIndices: attributes })),
			}] }],
		}],
		dictionary: {
			mappingTable: [{}, { filenameStrindex: 10 }],
			functionTable: [{}, { nameStrindex: 5, filenameStrindex: 6, startLine: 1 }, { nameStrindex: 7, filenameStrindex: 6, startLine: 9 }],
			locationTable: [{}, { lines: [{ functionIndex: 1, line: 3 }], attributeIndices: [3] },
				{ lines: [{ functionIndex: 2, line: 12 }], attributeIndices: [3] }, { mappingIndex: 1, address: 4096 }],
			stackTable: [{}, { locationIndices: [2, 1] }, { locationIndices: [3, 2, 1] }],
			attributeTable: [{}, { keyStrindex: 8, value: { stringValue: "eu" } }, { keyStrindex: 11, value: { intValue: 5 } },
				{ keyStrindex: 12, value: { stringValueStrindex: 13 } }],
			linkTable: [{}], stringTable: strings,
		},
	};
}
