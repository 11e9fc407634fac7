#!/usr/bin/perl
# SPDX-License-Identifier: MIT
# scripts/stack.pl BUILD_FOLDER: the worst stack of a firmware image, in bytes, from the call
# graphs that gcc writes beside its objects (-fcallgraph-info=su). Fails on recursion, on a frame
# of unknown size, on a call that it cannot follow, and if the image has reserved less: each build
# of an image asks.
use strict;
use warnings;

my $build = shift or die "usage: scripts/stack.pl BUILD_FOLDER\n";

# CPUs, by the first function of an image: what an exception pushes by itself, and who handles interrupts if not
# functions of a vector table.
my %cpus = (
	# Exception frame and its alignment (Armv7-M Architecture Reference Manual, B1.5.6).
	pb_cortex_m_reset => { pushes => 32 + 4, handlers => [] },
	# A handler's own frame holds all; a fault starts at the top of the stack, and its own is counted all the same.
	pb_riscv_start => { pushes => 0, handlers => ['pb_riscv_timer', 'pb_riscv_external'] },
);
# Hand-written or library functions, whose frames gcc does not know: read off their code.
my %library = (memcpy => 24, memset => 24, memmove => 24, strlen => 24, pb_cortex_m_fault => 0, __clzsi2 => 0, __ctzsi2 => 0,
	pb_core_run_list_64 => 48, pb_core_run_compact_64 => 44, pb_core_run_resolve => 60);

my (%bytes, %file, %calls, %called);
sub short { my $name = shift; $name =~ s{^.*/(\w+/\w+\.[ch]:)}{$1}; return $name }

# What the map of the image says is linked into it. Where the build folder lies must not matter.
my ($map) = grep { !/bench|echo/ } glob "'$build'/patchbay-*.elf.map";
defined $map or die "stack: no image in $build: build it first\n";
my $linked = do { local (@ARGV, $/) = $map; <> };
my ($image, $board) = $map =~ m{/(patchbay-(\w+)\.elf)\.map$};
my @graphs = map { "$build/$_" } grep {
	m{CMakeFiles/([^/]+)\.dir/} && ($1 eq $image || index($linked, "lib$1.a(") >= 0)
} split /\n/, `find '$build' -name '*.ci' -printf '%P\\n'`;
@graphs or die "stack: no call graphs in $build: build the image first\n";
my @indirect;
for my $graph (@graphs) {
	open my $in, '<', $graph or die "stack: $graph: $!\n";
	while (<$in>) {
		if (/^node: \{ title: "([^"]+)" label: "[^"\\]*\\n([^"\\]*)\\n(\d+) bytes \((\w+)/) {
			my $name = short($1);
			$4 eq 'static' or die "stack: $name has a frame of no fixed size\n";
			$bytes{$name} = $3;
			($file{$name}) = $2 =~ m{(\w+/\w+\.[ch]):\d+};
		} elsif (/^edge: \{ sourcename: "([^"]+)" targetname: "([^"]+)" label: "([^"]*)"/) {
			my ($from, $to, $at) = (short($1), short($2), $3);
			if ($to eq '__indirect_call') {
				push @indirect, [$from, $at];
			} else {
				$calls{$from}{$to} = 1;
				$called{$to} = 1;
			}
		}
	}
}

# A static function that nobody calls by name is called through a table of its own file.
sub table_of { my $wanted = shift; return grep { ($file{$_} // '') eq $wanted && /:/ && !$called{$_} } keys %bytes }

# The lines driver: what it shares with others, and its own.
my @lines = ((grep { /^pb_uart_lines_/ } keys %bytes), map { table_of($_) } grep { m{^uart_\w+/lines\.c$} } values %file);

# Who may be meant by a call through a pointer, by the file of the call.
my %tables = (
	'firmware/control.c' => ['firmware/control.c'],
	'firmware/patch.c' => ['firmware/patch.c'],
	'firmware/patch_list.c' => ['firmware/patch_list.c'],
	'firmware/patch_compact.c' => ['firmware/patch_compact.c'],
	'engine/reference.c' => [],
);
# And functions of other files in those tables.
my %entries = (
	'firmware/patch.c' => \@lines,
	'engine/reference.c' => \@lines,
	'firmware/patch_list.c' => ['pb_core_run_list_64'],
	'firmware/patch_compact.c' => ['pb_core_run_compact_64'],
);
# Of a board that is a card by itself: its lines, the packets and interrupts of its engines, the hosts that live on it.
my %seen;
my @of_board = grep { m{^\Q$board\E/} && !$seen{$_}++ } sort values %file;
$tables{$_} = [$_] for @of_board;
$tables{'cortex_m/local_lines.c'} = ["$board/board.c"];
$tables{'card/admin.c'} = ["$board/local_host.c"];
$tables{'model/packets.c'} = ['model/packets.c'];
$tables{'model/defects.c'} = ['engine/soft.c'];
$entries{'model/packets.c'} = [grep { /^pb_model_/ && ($file{$_} // '') =~ m{^model/(blit|draw|pages)\.c$} } keys %bytes];
push @{$tables{$_}}, 'cortex_m/local_lines.c' for 'firmware/patch.c', 'engine/reference.c';

for my $call (@indirect) {
	my ($from, $at) = @$call;
	my ($where) = $at =~ m{(\w+/\w+\.[ch]):\d+};
	my @targets;
	if ($where =~ m{^(cortex_m|riscv)/fault\.c$}) {
		@targets = ('pb_firmware_fatal');
	} elsif ($tables{$where}) {
		@targets = ((map { table_of($_) } @{$tables{$where}}), @{$entries{$where} // []});
	} elsif ($where =~ m{^firmware/}) {
		@targets = (@lines, table_of('engine/reference.c'));
	}
	push @targets, table_of('cortex_m/local_lines.c') if $where =~ m{^firmware/} && !$tables{$where};
	@targets or die "stack: cannot tell whom $from calls at $at\n";
	$calls{$from}{$_} = 1 for @targets;
}

my (%worst, %path, %active);
sub worst {
	my $name = shift;
	return $worst{$name} if exists $worst{$name};
	die "stack: recursion through $name\n" if $active{$name};
	$active{$name} = 1;
	my $own = $bytes{$name} // $library{$name} // die "stack: the frame of $name is unknown\n";
	my ($deepest, $next) = (0, '');
	for my $target (sort keys %{$calls{$name} // {}}) {
		my $depth = worst($target);
		($deepest, $next) = ($depth, $target) if $depth > $deepest;
	}
	delete $active{$name};
	$path{$name} = $next;
	return $worst{$name} = $own + $deepest;
}

my ($start) = grep { defined $bytes{$_} } sort keys %cpus;
my $cpu = $cpus{$start // die "stack: an image of a CPU that is not known\n"};
my $thread = worst($start);
my ($handler) = sort { worst($b) <=> worst($a) || $a cmp $b }
	@{$cpu->{handlers}}, map { table_of($_) } grep { m{/board\.c$} } values %file;
my $fault = worst((grep { /fault\.c:fault$/ } keys %bytes)[0]);
my $total = $thread + $cpu->{pushes} + worst($handler) + $cpu->{pushes} + $fault;

my @way = ($start);
push @way, $path{$way[-1]} while $path{$way[-1]};
printf STDERR "stack: thread %d (%s), handler %d (%s), fault %d\n", $thread, join(' > ', map { s/.*://r } @way),
	worst($handler), $handler, $fault;
# What the image reserves, by its map.
my %at = map { $_ => ($linked =~ /^\s+0x([0-9a-f]+)\s+\Q$_\E = /m)[0] // die "stack: $map does not say where $_ is\n" }
	'pb_stack_bottom', 'pb_stack_top';
my $reserved = hex($at{pb_stack_top}) - hex($at{pb_stack_bottom});
$total <= $reserved or
	die "stack: $image may need $total bytes and reserves $reserved: a larger PB_STACK_BYTES in its memory.ld\n";
print "$total\n";
