#!/usr/bin/perl
# SPDX-License-Identifier: MIT
# scripts/reference.pl HEADER: what doxygen reads of a header, line for line: lists of numbers as the enumerations that
# they make, with their words; drawings as they are drawn; without the checks of offsets and without reserved fields.
use strict;
use warnings;

my $text = do { local $/; <> };

# What is replaced keeps its lines, so that a warning names the right one.
sub lines { my ($new, $old) = @_; return $new . "\n" x (($old =~ tr/\n//) - ($new =~ tr/\n//)) }

my %rows;
while ($text =~ /^#define (PB_\w+)\(X\)((?:[^\n]*\\\n)*[^\n]*)/gm) {
	my ($name, $body) = ($1, $2);
	$body =~ s/\\\n//g;
	$body =~ s{/\*.*?\*/}{}gs;
	while ($body =~ /\bX\((\w+),\s*(\d+),((?:[^"()]|"[^"]*")*)\)/g) {
		push @{$rows{$name}}, [$1, $2, $3];
	}
}
sub enumerators {
	my ($prefix, $list) = @_;
	return join ' ', map { "$prefix$_->[0] = $_->[1], /**< " . ($_->[2] =~ s/^\s*"([^"]*)".*/$1/r) . " */" } @{$rows{$list}};
}

$text =~ s{^#define PB_\w+_ENUM\(name[^\n]*?(PB_\w+_)##name[^\n]*\n\s*(PB_\w+)\([^)\n]*\)\n#undef[^\n]*}{lines(enumerators($1, $2), $&)}gem;
# The comment of a list of numbers is that of its macro.
$text =~ s{^/\*(?=(?:[^*]|\*(?!/))*?X\(NAME)}{/**}gm;
$text =~ s{^(/\*\* *clang-format|/\* clang-format)[^\n]*}{}gm;
$text =~ s{^(?:PB_AT|PB_SIZE|PB_STATIC_ASSERT)\(.*?\);$}{lines('', $&)}gems;
$text =~ s{^\s*\w[\w ]* \w*reserved\w*(?:\[\w+\])?;(?: /\*\*<.*?\*/)?}{lines('', $&)}gems;
if ($ARGV !~ m{(^|/)host/}) {
	# Drawings: runs of lines of a comment that are indented.
	$text =~ s{^( \*(?:  +(?!@)[^\n]*)\n(?: \*\n(?= \*  )| \*  [^\n]*\n)*)}{my $run = $1; chomp $run; " * \@verbatim" . substr($run, 2) . " \@endverbatim\n"}gem;
}
print $text;
