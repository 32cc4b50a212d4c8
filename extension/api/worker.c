/* worker.c: hooks SAPI's activate and deactivate. */

#ifdef HAVE_CONFIG_H
#include "config.h"
#endif

#include "worker.h"

#include "php_strobe.h"
#include "request_labels.h"
#include "sampler.h"

#include "SAPI.h"

static int (*next_activate)(void), (*next_deactivate)(void);
static bool up;

/* Outside workers, SAPI is activated for PHP's own requests: before we learn of their beginning, and deactivated
 * after their end. */
static bool is_in_worker(void)
{
#ifdef ZTS
	if (!tsrm_get_ls_cache())
		return false;
	ZEND_TSRMLS_CACHE_UPDATE();
#endif
	return STROBE_G(in_request);
}

static int activate(void)
{
	int r = next_activate ? next_activate() : SUCCESS;

	/* A worker that is asked to stop is activated once more, without a request. */
	if (is_in_worker() && SG(request_info).request_method) {
		request_labels_request_start();
		sampler_request_start();
		api_worker_request_start();
	}
	return r;
}

static int deactivate(void)
{
	if (is_in_worker()) {
		sampler_request_ending();
		api_worker_request_end();
		sampler_request_end();
		STROBE_G(unsampled) = true;
	}
	return next_deactivate ? next_deactivate() : SUCCESS;
}

void worker_startup(void)
{
	if (strcmp(sapi_module.name, "frankenphp") != 0)
		return;
	next_activate = sapi_module.activate;
	next_deactivate = sapi_module.deactivate;
	sapi_module.activate = activate;
	sapi_module.deactivate = deactivate;
	up = true;
}

void worker_shutdown(void)
{
	if (!up)
		return;
	if (sapi_module.activate == activate)
		sapi_module.activate = next_activate;
	if (sapi_module.deactivate == deactivate)
		sapi_module.deactivate = next_deactivate;
	up = false;
}
