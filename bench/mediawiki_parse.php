<?php
/* Parses a page of a MediaWiki some times over for each line on stdin, and prints the CPU seconds of each as a line of JSON.
 *
 * mediawiki_parse.php WATCHER PARSES PAGE: who watches is what trace_cost.php understands, or "excimer PERIOD"; it starts
 * and stops with each line. Two parses before the first fill MediaWiki's caches, then an empty list is printed; making the
 * result of the watcher does not count.
 */
[, $watcher, $parses, $page] = $argv;
$argv = [$argv[0]];
$argc = 1;
require_once (getenv('MEDIAWIKI') ?: '/usr/share/mediawiki') . '/maintenance/Maintenance.php';

class ParseOnce extends Maintenance
{
	public static string $watcher, $page;
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
		$services = MediaWiki\MediaWikiServices::getInstance();
		$revision = $services->getRevisionLookup()->getRevisionByTitle(Title::newFromText(self::$page));
		if (!$revision)
			$this->fatalError('there is no page ' . self::$page);
		// As MediaWiki's own benchmarkParse.php does it.
		$parse = function () use ($revision, $services) {
			$content = $revision->getContent(MediaWiki\Revision\SlotRecord::MAIN);
			$output = $services->getContentRenderer()->getParserOutput($content, $revision->getPage(), $revision->getId());
			return strlen($output->getRawText());
		};
		for ($i = 0; $i < 2; $i++)
			$length = $parse();
		$taken = [];
		$calls = null;
		do {
			echo json_encode(['seconds' => $taken, 'length' => $length, 'calls' => $calls]), "\n";
			if (fgets(STDIN) === false)
				break;
			$stop = $this->start();
			$taken = [];
			for ($i = 0; $i < self::$parses; $i++) {
				$before = $this->cpu();
				$parse();
				$taken[] = $this->cpu() - $before;
			}
			$seen = $stop();
			$calls = is_array($seen) ? array_sum(array_column($seen, 'ct')) : ($seen ? count($seen) : null);
			$seen = $stop = null;
		} while (true);
	}
}

ParseOnce::$watcher = $watcher;
ParseOnce::$parses = (int)$parses;
ParseOnce::$page = $page;
$maintClass = ParseOnce::class;
require_once RUN_MAINTENANCE_IF_MAIN;
