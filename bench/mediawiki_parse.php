<?php
/* Parses 150 kB of wikitext as MediaWiki does for a page view, and prints the CPU seconds of each parse as JSON.
 *
 * mediawiki_parse.php WATCHER PARSES WIKITEXT: who watches is what trace_cost.php understands, or "excimer PERIOD".
 * One parse before the start fills MediaWiki's caches; making the result of the watcher does not count.
 */
[, $watcher, $parses, $file] = $argv;
$argv = [$argv[0]];
$argc = 1;
require_once (getenv('MEDIAWIKI') ?: '/usr/share/mediawiki') . '/maintenance/Maintenance.php';

class ParseOnce extends Maintenance
{
	public static string $watcher, $file;
	public static int $parses;

	private function cpu(): float
	{
		$u = getrusage();
		return $u['ru_utime.tv_sec'] + $u['ru_stime.tv_sec'] + ($u['ru_utime.tv_usec'] + $u['ru_stime.tv_usec']) / 1e6;
	}

	private function start(): callable
	{
		if (self::$watcher === 'none' || self::$watcher === 'off')
			return fn() => null;
		if (str_starts_with(self::$watcher, 'excimer ')) {
			$e = new ExcimerProfiler();
			$e->setPeriod((float)substr(self::$watcher, 8));
			$e->setEventType(EXCIMER_REAL);
			$e->start();
			return function () use ($e) { $e->stop(); return $e->getLog(); };
		}
		[$functions, $flags] = explode(' ', self::$watcher);
		[$start, $stop] = explode('/', $functions);
		$start((int)$flags);
		return $stop(...);
	}

	public function execute(): void
	{
		$text = file_get_contents(self::$file);
		$title = Title::newFromText('Parsed by the benchmark');
		$parser = MediaWiki\MediaWikiServices::getInstance()->getParser();
		$parse = fn() => strlen($parser->parse($text, $title, ParserOptions::newFromAnon())->getText());
		$length = $parse();
		$stop = $this->start();
		$taken = [];
		for ($i = 0; $i < self::$parses; $i++) {
			$before = $this->cpu();
			$parse();
			$taken[] = $this->cpu() - $before;
		}
		$seen = $stop();
		echo json_encode(['seconds' => $taken, 'length' => $length,
			'calls' => is_array($seen) ? array_sum(array_column($seen, 'ct')) : ($seen ? count($seen) : null)]), "\n";
	}
}

ParseOnce::$watcher = $watcher;
ParseOnce::$parses = (int)$parses;
ParseOnce::$file = $file;
$maintClass = ParseOnce::class;
require_once RUN_MAINTENANCE_IF_MAIN;
