#!/usr/bin/perl
# SPDX-License-Identifier: MIT
# scripts/stack.pl BUILD_FOLDER: the worst stack of a firmware image, in bytes, from the call
# graphs that gcc writes beside its objects (-fcallgraph-info=su). Fails on recursion, on a frame
# of unknown size and on a call that it cannot follow.
use strict;
use warnings;

my $build = shift or die "usage: scripts/stack.pl BUILD_FOLDER\n";

# By the function that a CPU's start-up ends in: what the CPU pushes on an exception, and the functions that its trap
# table enters by name. Arm: a frame and its alignment (Armv7-M Architecture Reference Manual, B1.5.6). RISC-V pushes
# nothing: what its handlers save is in their own frames.
my %cpus = (
	pb_cortex_m_reset => { exception => 32 + 4, handlers => [] },
	pb_riscv_start => { exception => 0, handlers => ['pb_riscv_timer', 'pb_riscv_external'] },
);
# Hand-written or library functions, whose frames gcc does not know: read off their code.
my %library = (memcpy => 24, memset => 24, memmove => 24, strlen => 24, pb_cortex_m_fault => 0, pb_riscv_fault => 0,
	pb_core_run_list_64 => 48, pb_core_run_compact_64 => 44, pb_core_run_resolve => 60);

my (%bytes, %file, %calls, %called);
sub short { my $name = shift; $name =~ s{^.*/(\w+/\w+\.[ch]:)}{$1}; return $name }

# The bench and the echo are no part of the image. Where the build folder lies must not matter.
my @graphs = map { "$build/$_" } grep { !/bench|echo/ } split /\n/, `find '$build' -name '*.ci' -printf '%P\\n'`;
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

# Drivers of interrupt lines, whichever the board has.
my %files = map { $_ => 1 } values %file;
my @lines = grep { /lines\.c$/ } sort keys %files;
# Who may be meant by a call through a pointer, by the file of the call.
my %tables = (
	'firmware/control.c' => ['firmware/control.c'],
	'firmware/patch.c' => ['firmware/patch.c', @lines],
	'firmware/patch_list.c' => ['firmware/patch_list.c'],
	'firmware/patch_compact.c' => ['firmware/patch_compact.c'],
	'engine/reference.c' => [@lines],
);
# And functions of other files in those tables.
my %entries = (
	'firmware/patch_list.c' => ['pb_core_run_list_64'],
	'firmware/patch_compact.c' => ['pb_core_run_compact_64'],
);
for my $call (@indirect) {
	my ($from, $at) = @$call;
	my ($where) = $at =~ m{(\w+/\w+\.[ch]):\d+};
	my @targets;
	if ($where =~ m{/fault\.c$}) {
		@targets = ('pb_firmware_fatal');
	} elsif ($tables{$where}) {
		@targets = ((map { table_of($_) } @{$tables{$where}}), @{$entries{$where} // []});
	} elsif ($where =~ m{^firmware/}) {
		@targets = map { table_of($_) } @lines, 'engine/reference.c';
	}
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

my ($start) = grep { exists $bytes{$_} } sort keys %cpus;
defined $start or die "stack: no start-up code of a CPU that is known\n";
my $exception_bytes = $cpus{$start}{exception};
my $thread = worst($start);
my ($handler) = sort { worst($b) <=> worst($a) } (map { table_of($_) } grep { m{/board\.c$} } sort keys %files),
	@{$cpus{$start}{handlers}};
my $fault = worst((grep { /fault\.c:fault$/ } keys %bytes)[0]);
my $total = $thread + $exception_bytes + worst($handler) + $exception_bytes + $fault;

my @way = ($start);
push @way, $path{$way[-1]} while $path{$way[-1]};
printf STDERR "stack: thread %d (%s), handler %d (%s), fault %d\n", $thread, join(' > ', map { s/.*://r } @way),
	worst($handler), $handler, $fault;
print "$total\n";
