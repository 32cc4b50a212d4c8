<?php
/* Parses a page of a MediaWiki some times over for each line on stdin, and prints the CPU seconds of all as a line of JSON,
 * and the nanoseconds of each lap: from one link, template or piece of text to the next, the same ones in each parse.
 *
 * mediawiki_parse.php WATCHER PARSES PAGE: who watches is what trace_cost.php understands, or "excimer PERIOD"; it starts
 * and stops with each line. Two parses before the first fill MediaWiki's caches, then an empty list is printed; making the
 * result of the watcher does not count.
 */
[, $watcher, $parses, $page] = $argv;
$argv = [$argv[0]];
$argc = 1;
require_once (getenv('MEDIAWIKI') ?: '/usr/share/mediawiki') . '/maintenance/Maintenance.php';

class Laps
{
	public static array $at = [];
	private static int $texts = 0;
	private const HOOKS = ['HtmlPageLinkRendererEnd', 'LinkerMakeExternalLink', 'InternalParseBeforeLinks', 'ParserBeforeInternalParse',
		'BeforeParserFetchTemplateRevisionRecord', 'ParserAfterParse', 'ParserAfterTidy'];

	public static function mark(): void
	{
		self::$at[] = hrtime(true);
	}

	/** Pieces of text are short. */
	public static function text(): void
	{
		if (++self::$texts % 8 === 0)
			self::mark();
	}

	/** The last third of a parse runs no hook, so the class that writes text there is loaded with a mark
	 * inserted. */
	public static function install(MediaWiki\HookContainer\HookContainer $hooks): void
	{
		foreach (self::HOOKS as $hook)
			$hooks->register($hook, static function (): void { Laps::mark(); });
		$class = 'MediaWiki\Tidy\RemexCompatFormatter';
		$file = $GLOBALS['IP'] . '/includes/tidy/RemexCompatFormatter.php';
		if (!class_exists($class, false) && is_file($file))
			eval('?>' . preg_replace('/function characters\([^{]*\{/', '$0 \Laps::text();', file_get_contents($file)));
	}

	/** Returns the times between marks since the last call. */
	public static function take(): array
	{
		$laps = [];
		for ($i = 1; $i < count(self::$at); $i++)
			$laps[] = self::$at[$i] - self::$at[$i - 1];
		self::$at = [];
		self::$texts = 0;
		return $laps;
	}
}

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
		// The same steps as in MediaWiki's own benchmarkParse.php.
		$parse = function () use ($revision, $services) {
			$content = $revision->getContent(MediaWiki\Revision\SlotRecord::MAIN);
			$output = $services->getContentRenderer()->getParserOutput($content, $revision->getPage(), $revision->getId());
			return strlen($output->getRawText());
		};
		Laps::install($services->getHookContainer());
		for ($i = 0; $i < 2; $i++)
			$length = $parse();
		$seconds = $calls = null;
		$laps = [];
		do {
			echo json_encode(['seconds' => $seconds, 'laps' => $laps, 'length' => $length, 'calls' => $calls]), "\n";
			if (fgets(STDIN) === false)
				break;
			Laps::take();
			$stop = $this->start();
			$before = $this->cpu();
			Laps::mark();
			for ($i = 0; $i < self::$parses; $i++) {
				$parse();
				Laps::mark();
			}
			$seconds = $this->cpu() - $before;
			$seen = $stop();
			$laps = Laps::take();
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
