/* notify.h: tells systemd how the service is, by its datagram protocol (sd_notify(3)), without its library. */
#ifndef DAEMON_NOTIFY_H
#define DAEMON_NOTIFY_H

#include <stdint.h>

/* Sends "READY=1" and the like to NOTIFY_SOCKET; without that does nothing. */
void notify_send(const char *state);

/* The interval at which "WATCHDOG=1" is expected, in nanoseconds; 0 if it is not. */
int64_t notify_watchdog_ns(void);

#endif
