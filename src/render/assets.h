/* assets.h: files that stand in the picture as they are; embed.py makes the bytes of flamegraph.css and .js. */
#ifndef RENDER_ASSETS_H
#define RENDER_ASSETS_H

#include <stddef.h>

extern const char asset_flamegraph_css[], asset_flamegraph_js[];
extern const size_t asset_flamegraph_css_size, asset_flamegraph_js_size;

#endif
