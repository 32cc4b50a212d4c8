# Builds a stack with every kind of frame that Perl has, says what caller() makes of it, root first, and stays there: until
# its input ends, or (with "spin") on the CPU. Tests compare that with the stack that Strobe reads from outside.
use strict;
use warnings;
use feature qw(current_sub lexical_subs);

my $spin = @ARGV && $ARGV[0] eq 'spin';
my $depth = 80;
our $out;

# One line per frame, leaf first: the name, a tab, the line that runs in it. caller() has the line from which a frame was
# called, so a frame's own line is that of the next one. It dies at a format ("Bizarre copy of FORMAT"): what is above that
# was taken before.
my @above_format;
sub frames {
	my $line = shift;
	my @frames;

	for (my $i = 1; my @c = eval { caller($i + 1) }; $i++) {
		my ($from, $name, $text, $require) = @c[2, 3, 6, 7];
		$name = "require $text" if $require;
		push @frames, "$name\t$line\n";
		$line = $from;
	}
	return (@frames, $@ ? ("main::LETTER (format)\t$line\n", @above_format) : "$0\t$line\n");
}

sub stay {
	print STDOUT reverse(frames(__LINE__ + 1)), "ready\n";
	$spin ? do { 1 while 1 } : exit(defined <STDIN>);
}

my $closure = sub { my $n = shift; $n ? __SUB__->($n - 1) : stay() };

{
	package Local::Shop;
	use overload '+' => sub { $_[0]->total };
	sub new { bless {}, shift }
	sub total { $closure->(2) }
	package Local::Tied;
	sub TIESCALAR { bless {}, shift }
	sub FETCH { Local::Shop->new + 1 }
}

sub from_format {
	tie my $tied, 'Local::Tied';
	my $value = $tied;
	return $value;
}

format LETTER =
@<<<<
from_format()
.

sub with_format {
	open my $file, '>', '/dev/null' or die;
	my $before = select $file;
	$~ = 'LETTER';
	select STDOUT;
	@above_format = frames(__LINE__ + 1);
	write $file;
	select $before;
}

sub by_name {
	my sub inner { eval { with_format() }; die $@ if $@ }
	for my $i (1 .. 2) {
		inner();
	}
}

sub compare {
	by_name() if $a > $b;
	return $a <=> $b;
}

sub from_block {
	my @sorted = sort compare 3, 2, 1;
	return @sorted;
}

sub sorted {
	my @sorted = sort { from_block() } 3, 2, 1;
	return @sorted;
}

sub evaluated {
	eval "\n\nsorted(); 1" or die $@;
}

sub recurse {
	my $n = shift;
	if ($n > 1) {
		recurse($n - 1);
	} else {
		evaluated();
	}
	return;
}

$| = 1;
recurse($depth);
