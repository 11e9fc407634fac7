#!/usr/bin/perl
# SPDX-License-Identifier: MIT
# scripts/abi.pl [--write] [ROOT]: the tables of docs/abi.md, from the headers of firmware/abi. Without --write it prints
# "file:line: what is wrong" and fails if a table is another one, if the page leaves something out, or if a header does
# not say what a field means, or who writes a struct. A block of the page is
#
#   <!-- KIND NAME -->
#   what the headers say
#   <!-- / -->
#
# KIND: struct, enum; file HEADER: its first comment; constants HEADER: its macros; note WORDS: the plain comment that
# begins so; commands: the note of the control commands, as a table; rest: whatever no other block has.
use strict;
use warnings;

my $write = @ARGV && $ARGV[0] eq '--write' && shift @ARGV;
if (@ARGV) { chdir $ARGV[0] or die "$ARGV[0]: $!\n" }
my $page = 'docs/abi.md';
my ($header, $text);
my (%item, @order, $wrong);

sub slurp { local (@ARGV, $/) = @_; return scalar <> }
sub line_at { return 1 + (substr($text, 0, shift) =~ tr/\n//) }
sub complain { printf "%s:%d: %s\n", @_; $wrong = 1 }
sub keep {
	my ($name, $print) = @_;
	die "$header: two blocks are called: $name\n" if $item{$name};
	push @order, $name;
	$item{$name} = $print;
}

# A comment without its stars, as lines.
sub lines_of {
	my $comment = shift;
	$comment =~ s{^/\*\*?<?[ \t]*\n?|\s*\*/$}{}g;
	return map { s/^[ \t]*\* ?//r } split /\n/, $comment;
}
# A comment on one line.
sub words { return join(' ', lines_of(shift)) =~ s/\s+/ /gr =~ s/^ | $//gr }
sub cell { return shift =~ s/([|*])/\\$1/gr }
sub row { return '| ' . join(' | ', map { cell($_) } @_) . " |\n" }
sub head { return row(@_) . '|' . '---|' x @_ . "\n" }

# A comment as paragraphs; what is indented stays as it is drawn.
sub prose {
	my ($out, $drawn) = ('', 0);
	for (lines_of(shift), '') {
		next if /^\@file/;
		my $indented = /^ / ? 1 : $drawn && /^$/ ? 2 : 0;
		if ($indented == 1 && !$drawn) { $out .= "\n```text\n"; $drawn = 1 }
		elsif ($drawn && !$indented) { $out =~ s/\n*$/\n```\n\n/; $drawn = 0 }
		$out .= ($drawn ? s/^ //r : cell($_)) . "\n";
	}
	$out =~ s/\n*$/\n```\n/ if $drawn;
	return $out =~ s/\n{3,}/\n\n/gr =~ s/^\n+|\n+$//gr . "\n";
}

# The rows of an X macro: [name, number, meaning or other columns...]
sub x_rows {
	my $body = shift =~ s/\\\n//gr =~ s{/\*.*?\*/}{}gsr;
	my @rows;
	while ($body =~ /\bX\(((?:[^"()]|"[^"]*")*)\)/g) {
		push @rows, [map { s/^\s+|\s+$//gr =~ s/^"|"$//gr } $1 =~ /((?:[^",]|"[^"]*")+)/g];
	}
	return \@rows;
}

my (%x_rows, %x_columns, %x_note, %size, %at, %value);

sub enum_of {
	my ($name, $body, $doc, $where) = @_;
	my ($prefix, $list) = $body =~ /(PB_[A-Z0-9_]*?)##name.*?\n\s*(PB_[A-Z0-9_]+)\(/s;
	my ($out, $next, @rows) = ('', 0);
	my @columns = ('number', 'name', 'meaning');
	if ($list) {
		my @more = @{$x_columns{$list}}[2 .. $#{$x_columns{$list}}];
		@columns = ('number', 'name', @more);
		$doc ||= $x_note{$list};
		push @rows, [$_->[1], "`$prefix$_->[0]`", @$_[2 .. $#$_]] for @{$x_rows{$list}};
		$next = $rows[-1][0] + 1;
		$body =~ s/^#.*\n|^\s*PB_[A-Z0-9_]+\(\w+\)\n//gm;
	}
	my $before = '';
	while ($body =~ m{\G\s*(?:/\*\*([^<].*?)\*/|(PB_\w+)(?:\s*=\s*(\d+))?,?[ \t]*(/\*\*<.*?\*/)?)}gcs) {
		if (defined $1) { $before = "/**$1*/"; next }
		$next = $3 if defined $3;
		my $meaning = words($4 // $before);
		complain($header, $where, "$2 of enum $name says nothing") if $meaning eq '';
		$value{$2} = $next;
		push @rows, [$next++, "`$2`", map { $_ eq 'meaning' ? $meaning : '' } @columns[2 .. $#columns]];
		$before = '';
	}
	$out = prose($doc) . "\n" if $doc;
	keep("enum $name", $out . head(@columns) . join('', map { row(@$_) } @rows));
}

sub struct_of {
	my ($name, $body, $doc, $where) = @_;
	my $who = qr/written[^.;]*? by (?:the )?(host|firmware|card's supervisor|build|MCU|engine)/i;
	my %bytes = (uint8_t => 1, char => 1, uint16_t => 2, uint32_t => 4, uint64_t => 8);
	my ($all) = ($doc // '') =~ s/\n \* / /gr =~ $who;
	my ($out, $offset, $writer, $before, @rows) = ($doc ? prose($doc) . "\n" : '', 0, $all, '');
	while ($body =~ m{\G\s*(?:/\*\*([^<].*?)\*/|/\*([^*].*?)\*/|((?:struct )?\w+)\s+(\w+)((?:\[\w+\])*);[ \t]*(/\*\*<.*?\*/)?)}gcs) {
		if (defined $1) { $before = "/**$1*/"; next }
		if (defined $2) {
			my $section = words("/*$2*/");
			$writer = $section =~ $who ? $1 : $all;
			push @rows, ['', '', '', '', "**$section**"];
			next;
		}
		my ($type, $field, $dim, $meaning) = ($3, $4, $5, words($6 // $before));
		$before = '';
		my $here = $where + 1 + (substr($body, 0, $-[4]) =~ tr/\n//);
		my $count = 1;
		my @counts = map { /^\d+$/ ? $_ : constant($_) } $dim =~ /\w+/g;
		$count *= $_ for @counts;
		my $width = $bytes{$type} // $size{$type =~ s/struct //r};
		$offset = $at{"$name.$field"} // $offset;
		$meaning ||= $field =~ /reserved/ ? 'reserved' : '';
		complain($header, $here, "$name.$field says nothing") if $meaning eq '';
		complain($header, $here, "$name.$field: nobody is said to write it") if !defined $writer;
		push @rows, [$offset, "`$field`", join('', $type, map { "[$_]" } @counts), $writer // '', $meaning];
		$offset += $width * $count;
	}
	complain($header, $where, "$name: not all of its fields are understood") if $offset != ($size{$name} // -1);
	$out .= "$size{$name} bytes.\n\n" if defined $size{$name};
	$out .= head('offset', 'field', 'type', 'written by', 'meaning');
	$out .= $_->[0] eq '' ? "| | | | | $_->[4] |\n" : row(@$_) for @rows;
	keep("struct $name", $out);
}
sub constant { my $of = $value{$_[0]} // die "$header: $_[0] has no value\n"; return $of =~ s/u$//r }

# The commands' note: a name, what belongs to it, and further lines of that, indented.
sub commands_of {
	my ($note, $where) = @_;
	my (%says, $name, $after);
	for (lines_of($note)) {
		if (/^([A-Z]+(?:_[A-Z]+)*) +((?:\d|->).*)/) { $says{$name = $1} = $2 }
		elsif (defined $name && /^ {8,}(.*)/) { $says{$name} .= " $1" }
		elsif (/\S/ && $name) { undef $name; $after = $_ }
		elsif (/\S/ && $after) { $after .= " $_" }
	}
	my $out = head('number', 'name', 'what it does', 'arguments', 'results, and more');
	for (@{$x_rows{PB_COMMANDS}}) {
		my $all = $says{$_->[0]} // 'none -> nothing';
		my ($arguments, $results) = $all =~ /^(.*?)\s*-> ?(.*)$/ ? ($1, $2) : ($all, 'nothing');
		# Without a result, what follows the last argument's full stop is said of the command.
		($arguments, $results) = ($1, $2) if $results eq 'nothing' && $arguments =~ /^(.*?)[.;] (?!\d)(.*)$/;
		$out .= row($_->[1], "`PB_COMMAND_$_->[0]`", $_->[2], $arguments || 'none', $results);
		delete $says{$_->[0]};
	}
	complain($header, $where, "there is no command $_") for sort keys %says;
	return $out . "\n" . ($after // '') . "\n";
}

sub macro_of {
	my ($name, $arguments, $body, $doc, $table, $where) = @_;
	my $meaning = $body =~ s{\s*/\*\*<(.*?)\*/\s*$}{}s ? words("/**<$1*/") : words($doc // '');
	$body =~ s/\\\n\s*//g;
	return if $name =~ /_H$|_(?:ENUM|ROW|LINE)$|^PB_(?:AT|SIZE|STATIC_ASSERT)$/ || $body !~ /\S/;
	$value{$name} = $body;
	complain($header, $where, "$name says nothing") if $meaning eq '';
	push @$table, [$body =~ s/\b(0x[0-9a-f]+|\d+)u\b/$1/gr, "`$name" . ($arguments // '') . '`', $meaning];
}

sub read_header {
	$header = shift;
	$text = slurp($header);
	my (@structs, @enums, @notes, @macros, $doc, $note);
	my $short = $header =~ s{.*/}{}r;
	$size{$1} = $2 =~ s/\bu\b//gr while $text =~ /^PB_SIZE\((\w+), (\d+)\)/gm;
	$at{"$1.$2"} = $3 while $text =~ /^PB_AT\((\w+), (\w+), (\d+)\);/gm;
	while ($text =~ m{\G(?:(/\*\*?(?!<).*?\*/)\n|\#define (\w+)(\([^)]*\))?[ \t]*((?:[^\n]*\\\n)*[^\n]*(?:\n\t*/\*\*<[^\n]*)?)\n|(struct|enum) (\w+) \{\n(.*?)^\};|([^\n]*\n))}gcsm) {
		my $where = line_at($-[0]);
		if (defined $1) {
			my $comment = $1;
			next if $comment =~ /clang-format|SPDX/;
			if ($comment =~ m{^/\*\*\n \* \@file}) { keep("file $short", prose($comment)); next }
			($doc, $note) = $comment =~ m{^/\*\*} ? ($comment, undef) : (undef, $comment);
			push @notes, [$note, $where] if $note && $note =~ /\n/ && $note !~ /X\(NAME, number, (?:meaning|category|kind)/;
			next;
		}
		if (defined $5) { push @{$5 eq 'struct' ? \@structs : \@enums}, [$6, $7, $doc, $where] }
		elsif (defined $2 && ($3 // '') eq '(X)') {
			my ($name, $rows) = ($2, x_rows($4));
			next if !@$rows;
			my ($columns) = words($note // '') =~ /X\(([^)]*)\)/;
			my $rest = words($note // '') =~ s/.*?X\([^)]*\)[:.]?\s*//r;
			$x_rows{$name} = $rows;
			$x_columns{$name} = [split /, /, $columns // 'NAME, number, meaning'];
			push @{$x_columns{$name}}, 'meaning' if @{$x_columns{$name}} < 3;
			$x_note{$name} = $rest eq '' ? undef : '/* ' . ucfirst($rest) . (' */');
		}
		elsif (defined $2) {
			macro_of($2, $3, $4, $doc, \@macros, $where);
			undef $doc;
			next;
		}
		($doc, $note) = () if !defined $8 || $8 =~ /^\s*$/;
	}
	for (@notes) {
		my ($comment, $where) = @$_;
		my ($first) = grep { /\S/ } lines_of($comment);
		if ($first =~ /^Control commands/) { keep('commands', commands_of($comment, $where)) }
		else { keep('note ' . join(' ', grep { defined } (split ' ', $first)[0, 1]) =~ s/[:,]//gr, prose($comment)) }
	}
	keep("constants $short", head('value', 'name', 'meaning') . join('', map { row(@$_) } @macros)) if @macros;
	enum_of(@$_) for @enums;
	struct_of(@$_) for @structs;
}

read_header($_) for ('firmware/abi/base.h', grep { $_ ne 'firmware/abi/base.h' } sort glob 'firmware/abi/*.h');
if (!-e $page) { complain($page, 1, 'there is no such page'); exit 1 }

my $old = slurp($page);
my (%shown, %closed, $new);
$shown{$1}++ while $old =~ /^<!-- ([a-z][^\n]*) -->$/gm;
$item{rest} = join("\n", map { "### $_\n\n$item{$_}" } grep { !$shown{$_} } @order);
$new = $old =~ s{^<!-- ([a-z][^\n]*) -->\n((?:(?!<!-- [a-z])[^\n]*\n)*?)<!-- / -->$}{$closed{$1} = 1; "<!-- $1 -->\n" . ($item{$1} // $2) . '<!-- / -->'}gemsr;
if ($write) {
	open my $file, '>', $page or die "$page: $!\n";
	print $file $new;
	close $file or die "$page: $!\n";
	$old = $new;
}
for (sort keys %shown) {
	my ($before) = $old =~ /^(.*?)^<!-- \Q$_\E -->$/ms;
	complain($page, 1 + ($before =~ tr/\n//), "no header has: $_") if !defined $item{$_};
	complain($page, 1 + ($before =~ tr/\n//), "shown twice: $_") if $shown{$_} > 1;
	complain($page, 1 + ($before =~ tr/\n//), "not closed: $_") if !$closed{$_};
}
if (!$shown{rest}) { complain($page, 1, "not shown: $_") for grep { !$shown{$_} } @order }
my ($is, $should) = ([split /^/, $old], [split /^/, $new]);
for my $i (0 .. ($#$is > $#$should ? $#$is : $#$should)) {
	next if ($is->[$i] // '') eq ($should->[$i] // '');
	complain($page, $i + 1, 'the headers say otherwise, run scripts/abi --write: ' . (($should->[$i] // '') =~ s/\n//r));
	last;
}
exit($wrong ? 1 : 0);
