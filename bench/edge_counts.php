<?php
/* usage: edge_counts.php LIBRARY API FLAGS RESULT SHARE
 *
 * Does a piece of a library's own work, twig or composer, records it with API (a prefix such as tideways_xhprof) and writes
 * the counts of all pairs of caller and callee to the file RESULT. SHARE is where the libraries lie. */
[, $library, $api, $flags, $result, $share] = $argv;

/* Nothing of the work is done beforehand: the original may miss functions that have already been called. */
function record(string $api, int $flags, string $result): void
{
	register_shutdown_function(function () use ($api, $result) {
		$edges = "{$api}_disable"();
		file_put_contents($result, json_encode(array_map(fn($values) => $values['ct'], $edges), JSON_INVALID_UTF8_SUBSTITUTE));
	});
	"{$api}_enable"($flags);
}

function twig(): void
{
	$templates = [
		'page' => '{% extends "layout" %}{% import "macros" as m %}{% block title %}{{ title|upper }}{% endblock %}'
			. '{% block body %}{% for p in products|sort((a, b) => a.price <=> b.price) %}{{ m.row(p, loop.index) }}{% else %}none{% endfor %}'
			. '{{ include("foot", {year: 2026}) }}{% set big = products|filter(p => p.price > 20)|map(p => p.name)|join(", ") %}{{ big|title }}'
			. '{% embed "box" %}{% block inner %}{{ parent() }}{{ products|length }}{% endblock %}{% endembed %}{% endblock %}',
		'layout' => '<title>{% block title %}{% endblock %}</title>{% block body %}{% endblock %}',
		'macros' => '{% macro row(p, i) %}{% apply spaceless %}<b class="{{ cycle(["odd", "even"], i) }}"> {{ p.name|e("html_attr") }} </b>{% endapply %}'
			. '{{ p.price|number_format(2) }}{{ p.tags|batch(2, "-")|json_encode|raw }}{{ p.name|replace({"a": "b"})|slice(0, 4)|e("js") }}{% endmacro %}',
		'foot' => '{{ year ~ "!" }}{{ "now"|date("Y") matches "/^2/" ? "x" : "y" }}{{ range(1, 5)|reduce((c, v) => c + v, 0) }}{{ dump is defined }}',
		'box' => '<div>{% block inner %}inner{% endblock %}</div>',
	];
	$products = [];
	for ($i = 0; $i < 40; $i++)
		$products[] = (object)['name' => "Product <$i> & more", 'price' => ($i * 37) % 101, 'tags' => array_fill(0, $i % 5, "tag$i")];
	$twig = new Twig\Environment(new Twig\Loader\ArrayLoader($templates), ['strict_variables' => true]);
	$twig->addExtension(new Twig\Extension\SandboxExtension(new Twig\Sandbox\SecurityPolicy()));
	$twig->addExtension(new Twig\Extension\ProfilerExtension(new Twig\Profiler\Profile()));
	for ($i = 0; $i < 3; $i++)
		$twig->render('page', ['title' => "page $i", 'products' => $products]);
}

if ($library === 'twig') {
	require "$share/php/Twig/autoload.php";
	record($api, (int)$flags, $result);
	twig();
} else {
	$argv = $_SERVER['argv'] = ['composer', 'dump-autoload', '-o', '--no-interaction', '--no-ansi', '--quiet'];
	$_SERVER['argc'] = count($argv);
	require "$share/php/Composer/autoload.php";
	record($api, (int)$flags, $result);
	(new Composer\Console\Application())->run();
}
