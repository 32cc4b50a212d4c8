/* settings.h: the php.ini settings of this extension.
 *
 * All have safe defaults. An invalid value is rejected (so ini_set returns false), the previous one is kept, and
 * settings_report.h informs administrators. For lists and the socket, where parts may be valid or the default would
 * be worse, the value is accepted and reported.
 */
#ifndef STROBE_SETTINGS_H
#define STROBE_SETTINGS_H

void settings_register(int module_number);
void settings_unregister(int module_number);

#endif
