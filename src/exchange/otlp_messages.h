/* otlp_messages.h: the request of OTLP profiles and its answers as tables, for JSON. They have the layout of 1.10,
 * and also accept the names of 1.8. Ids are left out: they are hexadecimal in this JSON, and nothing here reads
 * them. */
#ifndef EXCHANGE_OTLP_MESSAGES_H
#define EXCHANGE_OTLP_MESSAGES_H

#include "protobuf_message.h"

#define OTLP_JSON_MAX	((size_t)16 << 20)	/* limit of an uncompressed request: JSON takes twenty times its size to be read */

extern const struct message message_otlp_request, message_otlp_response, message_rpc_status;

enum { OTLP_PARTIAL_SUCCESS = 1 };
enum { OTLP_REJECTED_PROFILES = 1, OTLP_ERROR_MESSAGE };
enum { RPC_STATUS_CODE = 1, RPC_STATUS_MESSAGE };

#endif
