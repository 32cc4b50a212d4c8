/* settings.h: the php.ini settings of this extension.
 *
 * All are safe when absent. An invalid value is refused (so ini_set returns false), the previous one stays, and
 * settings_report.h informs administrators. In lists and for the socket, where a part may be valid or the default
 * would be worse, the value is accepted and reported.
 */
#ifndef STROBE_SETTINGS_H
#define STROBE_SETTINGS_H

void settings_register(int module_number);
void settings_unregister(int module_number);

#endif
