/* senders.c: a crowd that sends at one moment, each one a process of its own: half of them as PHP does, half of them as
 * clients of a Redis do.
 *
 * usage: senders SOCKET PORT PROCESSES
 * Each process connects, waits until all the others have, sends 3 samples, waits for the answer if it is a client, and
 * ends. Prints how many processes there were, and how many of them sent. */

#include "strobe_wire.h"

#include <arpa/inet.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

#define STACK 16384

static size_t write_message(uint8_t *buffer, size_t size)
{
	const struct strobe_wire_info info = { .kind = STROBE_WIRE_SAMPLES, .clock = STROBE_CLOCK_WALL,
					       .pid = (uint32_t)getpid(), .period_ns = 10000000 };
	const int64_t values[] = { 3 };
	struct strobe_wire_writer w;

	strobe_wire_begin(&w, buffer, size, &info);
	strobe_wire_string(&w, "entry", 5);
	strobe_wire_string(&w, "crowd", 5);
	strobe_wire_string(&w, "samples", 7);
	strobe_wire_string(&w, "count", 5);
	strobe_wire_string(&w, "main", 4);
	strobe_wire_label(&w, 1, 2);
	strobe_wire_column(&w, 3, 4);
	strobe_wire_frame(&w, 5, 0, 0);
	strobe_wire_node(&w, 0, 0, values);
	return strobe_wire_end(&w);
}

static int send_message(int fd)
{
	uint8_t buffer[512];
	size_t size = write_message(buffer, sizeof(buffer));

	return size <= sizeof(buffer) && send(fd, buffer, size, MSG_NOSIGNAL) == (ssize_t)size;
}

static int publish(int fd)
{
	static const char command[] = "*3\r\n$7\r\nPUBLISH\r\n$7\r\nexcimer\r\n$23\r\n/srv/crowd.php;client 3\r\n";
	char answer[16];

	return send(fd, command, sizeof(command) - 1, MSG_NOSIGNAL) == (ssize_t)sizeof(command) - 1 &&
	       recv(fd, answer, sizeof(answer), 0) == 4 && !memcmp(answer, ":1\r\n", 4);
}

static int connect_unix(const char *path)
{
	struct sockaddr_un a = { .sun_family = AF_UNIX };
	int fd = socket(AF_UNIX, SOCK_SEQPACKET, 0);

	snprintf(a.sun_path, sizeof(a.sun_path), "%s", path);
	return connect(fd, (struct sockaddr *)&a, sizeof(a)) ? -1 : fd;
}

static int connect_tcp(const char *port)
{
	struct sockaddr_in a = { .sin_family = AF_INET, .sin_port = htons((uint16_t)atoi(port)),
				 .sin_addr = { htonl(INADDR_LOOPBACK) } };
	int fd = socket(AF_INET, SOCK_STREAM, 0);

	return connect(fd, (struct sockaddr *)&a, sizeof(a)) ? -1 : fd;
}

/* One process. `go` ends when all are there. */
static int run(int is_client, const char *path, const char *port, int ready, int go)
{
	int fd = is_client ? connect_tcp(port) : connect_unix(path);
	char byte = 0;

	if (write(ready, &byte, 1) != 1 || fd < 0 || read(go, &byte, 1) != 0)
		return 1;
	return !(is_client ? publish(fd) : send_message(fd));
}

/* Processes share their memory: where a machine copies page tables slowly, ten thousand copies take minutes. Each has a stack and
 * descriptors of its own. */
struct process {
	int is_client, ready, go, go_end;
	const char *path, *port;
	_Alignas(16) char stack[STACK];
};

static int begin(void *data)
{
	const struct process *p = data;

	close(p->go_end);
	_exit(run(p->is_client, p->path, p->port, p->ready, p->go));
}

int main(int argc, char **argv)
{
	int count = argc == 4 ? atoi(argv[3]) : 0, started = 0, sent = 0, ready[2], go[2], status;
	struct process *all = count > 0 ? calloc((size_t)count, sizeof(*all)) : NULL;
	char byte;

	if (!all || pipe(ready) || pipe(go))
		return 1;
	for (; started < count; started++) {
		struct process *p = &all[started];

		p->is_client = started % 2;
		p->path = argv[1];
		p->port = argv[2];
		p->ready = ready[1];
		p->go = go[0];
		p->go_end = go[1];
		if (clone(begin, p->stack + STACK, CLONE_VM | SIGCHLD, p) < 0)
			break;
	}
	for (int i = 0; i < started; i++)
		if (read(ready[0], &byte, 1) != 1)
			return 1;
	close(go[1]);
	while (wait(&status) > 0)
		sent += status == 0;
	printf("%d %d\n", started, sent);
	free(all);
	return 0;
}
