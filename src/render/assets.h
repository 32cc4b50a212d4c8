/* assets.h: files that are embedded in pictures unchanged, converted by embed.py. The scripts are built from
 * web/src/picture and are in web/dist. */
#ifndef RENDER_ASSETS_H
#define RENDER_ASSETS_H

#include <stddef.h>

extern const char asset_flamegraph_css[], asset_picture_html_css[];
extern const size_t asset_flamegraph_css_size, asset_picture_html_css_size;

/* The SVG's script is compressed; picture_unpack_js follows it and runs it. Pictures whose boxes are an estimate have
 * the second, larger one. */
extern const char asset_picture_svg_js[], asset_picture_svg_pairs_js[], asset_picture_html_js[], asset_picture_unpack_js[];
extern const size_t asset_picture_svg_js_size, asset_picture_svg_pairs_js_size, asset_picture_html_js_size,
	asset_picture_unpack_js_size;

/* Like flamegraph_svg_script_hashes (render.h), for the scripts in one picture. */
extern const char picture_svg_hashes[], picture_svg_pairs_hashes[];

/* Turns the still picture that follows it into text. */
extern const char asset_still_js[];
extern const size_t asset_still_js_size;

extern const char asset_callgraph_css[], asset_callgraph_js[];
extern const size_t asset_callgraph_css_size, asset_callgraph_js_size;

#endif
