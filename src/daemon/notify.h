/* notify.h: reports the state of the service to systemd by its datagram protocol (sd_notify(3)), without its
 * library. */
#ifndef DAEMON_NOTIFY_H
#define DAEMON_NOTIFY_H

#include <stdint.h>

/* Sends a state such as "READY=1" to NOTIFY_SOCKET; does nothing if that is not set. */
void notify_send(const char *state);

/* The interval at which "WATCHDOG=1" is expected, in nanoseconds; 0 if it is not. */
int64_t notify_watchdog_ns(void);

#endif
