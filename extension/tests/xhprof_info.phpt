--TEST--
xhprof.collect_additional_info: SQL with its values, and URLs, are part of the names of queries and transfers
--EXTENSIONS--
pdo
pdo_sqlite
curl
--INI--
strobe.compat=xhprof
--FILE--
<?php
require __DIR__ . '/edges.inc';

class Db extends PDO { function all($sql) { return $this->query($sql)->fetchAll(); } }
class Text { function __toString() { return 'SELECT 5'; } }

function work()
{
	$db = new Db('sqlite::memory:');
	$db->exec('CREATE TABLE t (id INTEGER, name TEXT)');
	for ($i = 0; $i < 3; $i++)
		$db->exec("INSERT INTO t VALUES ($i, 'n$i')");
	$db->all('SELECT 1');
	$db->all('SELECT 1');
	$db->query(query: 'SELECT 2');
	$db->query(new Text);
	$s = $db->prepare('SELECT * FROM t WHERE id = ? AND name <> \'?\' AND name = ?');
	$s->execute([1, 'x$1?']);
	$s->execute([2.5, null]);
	$s = $db->prepare('SELECT * FROM t WHERE (id=:id OR id=:id2) AND name=:name AND \':id\' = 1');
	$s->execute([':id2' => 8, 'id' => true, 'name' => 'Robert']);
	$s->bindValue(':id', 3);
	$s->bindValue(':id2', 4);
	$s->bindValue(':name', 'bound');
	$s->execute();
	try {
		$db->query('SELECT nothing FROM nowhere');
	} catch (PDOException) {
	}
	try {
		$db->exec();
	} catch (ArgumentCountError) {
	}
	$c = curl_init('file:///dev/null');
	curl_setopt($c, CURLOPT_RETURNTRANSFER, true);
	curl_exec($c);
	$c2 = curl_init();
	curl_exec($c2);
}

ini_set('xhprof.collect_additional_info', '1');
xhprof_enable();
work();
$r = xhprof_disable();
check_edges($r);
show(array_filter($r, fn($pair) => preg_match('~PDO(Statement)?::(exec|query)|curl~', $pair), ARRAY_FILTER_USE_KEY), 'collected');

xhprof_enable(0, ['ignored_functions' => ['PDO::query', 'PDO::exec', 'curl_exec', 'PDOStatement::execute']]);
work();
show(array_filter(xhprof_disable(), fn($pair) => preg_match('~PDO(Statement)?::(exec|query)|curl~', $pair), ARRAY_FILTER_USE_KEY), 'ignored');

ini_set('xhprof.collect_additional_info', '0');
xhprof_enable();
work();
show(array_filter(xhprof_disable(), fn($pair) => preg_match('~PDO(Statement)?::(exec|query)|curl~', $pair), ARRAY_FILTER_USE_KEY), 'off');
?>
--EXPECT--
-- collected
Db::all==>PDO::query#SELECT 1 2
PDO::query==>Text::__toString 1
work==>PDO::exec 1
work==>PDO::exec#CREATE TABLE t (id INTEGER, name TEXT) 1
work==>PDO::exec#INSERT INTO t VALUES (0, 'n0') 1
work==>PDO::exec#INSERT INTO t VALUES (1, 'n1') 1
work==>PDO::exec#INSERT INTO t VALUES (2, 'n2') 1
work==>PDO::query 1
work==>PDO::query#SELECT 2 1
work==>PDO::query#SELECT nothing FROM nowhere 1
work==>PDOStatement::execute#SELECT * FROM t WHERE (id=1 OR id=8) AND name=Robert AND ':id' = 1 1
work==>PDOStatement::execute#SELECT * FROM t WHERE (id=:id OR id=:id2) AND name=:name AND ':id' = 1 1
work==>PDOStatement::execute#SELECT * FROM t WHERE id = 1 AND name <> '?' AND name = x$1? 1
work==>PDOStatement::execute#SELECT * FROM t WHERE id = 2.5 AND name <> '?' AND name =  1
work==>curl_exec# 1
work==>curl_exec#file:///dev/null 1
work==>curl_init 2
work==>curl_setopt 1
-- ignored
work==>curl_init 2
work==>curl_setopt 1
-- off
Db::all==>PDO::query 2
PDO::query==>Text::__toString 1
work==>PDO::exec 5
work==>PDO::query 3
work==>PDOStatement::execute 4
work==>curl_exec 2
work==>curl_init 2
work==>curl_setopt 1
