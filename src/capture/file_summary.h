/* file_summary.h: the summary of a recording of file I/O, part of record_summary.h. Pure. */
#ifndef CAPTURE_FILE_SUMMARY_H
#define CAPTURE_FILE_SUMMARY_H

#include "record_summary.h"

u64 file_summary_calls(const struct record_summary *s);

void file_summary_put(const struct record_summary *s, struct buf *out);

/* Explains a recording that has processes but no calls. */
void file_summary_explain_empty(const struct record_summary *s, struct buf *out);

#endif
