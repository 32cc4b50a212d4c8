/* resp_source.h: a listener that speaks enough of Redis' protocol for those who publish there (Arc Lamp's client,
 * XADD).
 *
 *	resp://[user:password@]host[:port][?name=value&…]
 *
 * The port is 6379 unless given; 0 takes a free one. Parameters:
 *
 *	channel=a,b		take only what is published on these; the rest is answered 0 and counted
 *	password=, password-file=	what AUTH must bring; without one only loopback addresses are served
 *	label.NAME=VALUE	a label of all lines that come here
 *	clock=wall|cpu, period=SECONDS	what ran the sampling
 *	idle=SECONDS		a connection that was silent for so long is closed; an hour
 *	clients=N		so many at once; 20,000
 *
 * A command is answered when it has been read, before its samples are stored: clients never wait for the store. */
#ifndef COLLECT_RESP_SOURCE_H
#define COLLECT_RESP_SOURCE_H

#include "source.h"

extern const struct source_ops resp_source_ops;

#endif
