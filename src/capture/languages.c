/* languages.c: parses and lists names of languages. */

#include "languages.h"

#include <string.h>

bool languages_parse(const char *name, u8 *ret)
{
	if (strcmp(name, "php") && strcmp(name, "perl"))
		return false;
	*ret = strcmp(name, "php") ? LANGUAGE_PERL : LANGUAGE_PHP;
	return true;
}

const char *languages_name(u8 languages)
{
	return languages == LANGUAGE_PHP ? "PHP" : languages == LANGUAGE_PERL ? "Perl" : "PHP or Perl";
}

const char *languages_symbols(u8 languages)
{
	return languages == LANGUAGE_PHP ? "executor_globals" : languages == LANGUAGE_PERL ? "Perl_runops_standard" :
	       "executor_globals or Perl_runops_standard";
}
