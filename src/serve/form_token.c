/* form_token.c: generates and compares the token. */
#include "form_token.h"

#include <string.h>
#include <sys/random.h>

int form_token_make(char ret[FORM_TOKEN + 1], struct err *err)
{
	unsigned char bytes[FORM_TOKEN / 2];

	if (getrandom(bytes, sizeof(bytes), 0) != (ssize_t)sizeof(bytes))
		return err_set(err, -EIO, "cannot get random numbers: %s", strerror(errno));
	for (size_t i = 0; i < sizeof(bytes); i++)
		snprintf(ret + 2 * i, 3, "%02x", bytes[i]);
	return 0;
}

bool form_token_matches(const char *ours, const char *theirs)
{
	unsigned char differs = 0;

	if (!ours || !theirs || strlen(ours) != FORM_TOKEN || strlen(theirs) != FORM_TOKEN)
		return false;
	for (size_t i = 0; i < FORM_TOKEN; i++)
		differs |= (unsigned char)(ours[i] ^ theirs[i]);
	return !differs;
}
