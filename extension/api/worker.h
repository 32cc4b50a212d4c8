/* worker.h: FrankenPHP's workers, which handle many requests inside a single one of PHP's.
 *
 * A worker's script boots, and then waits for requests in a loop. PHP's modules do not notice these, but SAPI is
 * activated when one arrives and deactivated when it has been answered, and once when booting is complete. So the
 * boot and each request are separate units of work, with their own decisions about sampling and tracing; code between
 * them belongs to none.
 */
#ifndef STROBE_WORKER_H
#define STROBE_WORKER_H

void worker_startup(void);
void worker_shutdown(void);

/* api.c: called when a worker's request begins and ends, instead of api_request_start and api_request_end. */
void api_worker_request_start(void);
void api_worker_request_end(void);

#endif
