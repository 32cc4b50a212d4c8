/* settings.h: the php.ini settings of this extension.
 *
 * All are safe when absent. A value that means nothing is refused (so ini_set answers false), the one before it stays, and
 * settings_report.h tells administrators. In lists and for the socket, where a part may be right or the default would be
 * worse, the value is taken and told about.
 */
#ifndef STROBE_SETTINGS_H
#define STROBE_SETTINGS_H

#include "php_strobe.h"

#define STROBE_MIN_PERIOD	0.0001		/* seconds; below it the timer itself would dominate */
#define STROBE_MAX_PERIOD	3600.0
#define STROBE_MIN_FLUSH	0.01		/* seconds */
#define STROBE_MAX_FLUSH	3600.0
#define STROBE_SYSTEM_SOCKET	"/run/strobe/strobe.sock"
#define STROBE_MIN_DEPTH	4
#define STROBE_MAX_DEPTH	8192
#define STROBE_MIN_NODES	1024		/* of a trace */
#define STROBE_MAX_NODES	67108864

void settings_register(int module_number);
void settings_unregister(int module_number);

/* Fills `path` with the socket to send to: strobe.socket, else $STROBE_SOCKET, else the default of this user.
 * Returns false if there is none that fits a socket address. */
bool settings_socket(char *path, size_t size);

#endif
