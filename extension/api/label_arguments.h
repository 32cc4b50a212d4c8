/* label_arguments.h: labels as programs give them. */
#ifndef STROBE_LABEL_ARGUMENTS_H
#define STROBE_LABEL_ARGUMENTS_H

#include "api_thread.h"

/* Reads argument `number`, an array of keys and scalars. Throws and returns false if it cannot be labels. The values are
 * clean of the secret of strobe.trigger_secret. */
bool labels_from_argument(HashTable *labels, uint32_t number, struct request_labels *ret);

/* Whether programs may set a label of this key: those that say which run or which machine it is are ours. */
bool label_key_is_free(const zend_string *key);

/* Whether the labels that hold now, those of the request and these would not be too many. Throws if they are. */
bool labels_fit(const struct request_labels *more);

/* The text of a scalar, "true" and "false" for bools; NULL for what is none. The caller releases it. */
zend_string *label_text(zval *value);

#endif
