/* file_closures.h: numbers closures that share a line in a file's top-level code.
 *
 * PHP frees the code of a file once it has run, and with it the order of its closures; the closures live on. So each
 * file, and each piece of eval'd code, is scanned after compilation. Only the second and later closures of a line are
 * stored, which most files do not have.
 */
#ifndef STROBE_FILE_CLOSURES_H
#define STROBE_FILE_CLOSURES_H

#include "php.h"

/* Hooks PHP's compiler, once per process: at the first request, when opcache has been loaded. */
void file_closures_request_start(void);
void file_closures_shutdown(void);

/* Frees the memory of this thread. */
void file_closures_thread_end(void);

/* Returns 2 for the second closure of its line, and so on; 0 for the first, or if unknown. */
uint32_t file_closures_order(const zend_op_array *closure);

#endif
