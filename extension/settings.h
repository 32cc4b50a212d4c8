/* settings.h: the php.ini settings of this extension.
 *
 * All are safe when absent. A value that means nothing is refused (so ini_set answers false), the one before it stays, and
 * settings_report.h tells administrators. In lists and for the socket, where a part may be right or the default would be
 * worse, the value is taken and told about.
 */
#ifndef STROBE_SETTINGS_H
#define STROBE_SETTINGS_H

void settings_register(int module_number);
void settings_unregister(int module_number);

#endif
