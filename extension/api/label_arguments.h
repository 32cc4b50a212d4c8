/* label_arguments.h: labels as arguments of PHP functions. */
#ifndef STROBE_LABEL_ARGUMENTS_H
#define STROBE_LABEL_ARGUMENTS_H

#include "api_thread.h"

/* Reads argument `number`, an array of keys and scalars. Throws and returns false if it is not valid as labels. The
 * secret of strobe.trigger_secret is removed from values. */
bool labels_from_argument(HashTable *labels, uint32_t number, struct request_labels *ret);

/* Whether programs may set a label with this key: keys that identify the run or the machine are reserved. */
bool label_key_is_free(const zend_string *key);

/* Whether the current labels, those of the request and `more` fit within the limit. Throws if not. */
bool labels_fit(const struct request_labels *more);

/* Returns a scalar as text, "true" and "false" for bools; NULL for other types. The caller releases it. */
zend_string *label_text(zval *value);

#endif
