/* SPDX-License-Identifier: MIT */
/*
 * snprintf and vsnprintf of <stdio.h> for the target: the C libraries of small targets lack 64-bit numbers or
 * %zu. Without floating point.
 */
#include <stdarg.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include "hal/halt.h"

#define DIGITS 22u /* of 64 bits in base 8 */

struct output {
	char *text;
	size_t room; /**< with the terminating 0 */
	size_t length;
};

/** One conversion: flags, width, precision, size. */
struct conversion {
	bool left, zeros, prefix;
	size_t width, precision;
	uint32_t longs; /**< l: 1, ll: 2 */
};

static void put(struct output *output, const char *text, size_t bytes)
{
	for (size_t i = 0; i < bytes; i++) {
		if (output->length + 1 < output->room)
			output->text[output->length] = text[i];
		output->length++;
	}
}

static void fill(struct output *output, char filler, size_t length, size_t width)
{
	for (; length < width; length++)
		put(output, &filler, 1);
}

/** A field: the prefix before the zeros, then the rest. */
static void put_field(struct output *output, const struct conversion *conversion, const char *head,
		      const char *body, size_t body_bytes)
{
	const size_t length = strlen(head) + body_bytes;

	if (!conversion->left && !conversion->zeros)
		fill(output, ' ', length, conversion->width);
	put(output, head, strlen(head));
	if (!conversion->left && conversion->zeros)
		fill(output, '0', length, conversion->width);
	put(output, body, body_bytes);
	if (conversion->left)
		fill(output, ' ', length, conversion->width);
}

static void put_number(struct output *output, const struct conversion *conversion, uint64_t value,
		       bool negative, char kind)
{
	const char *digits = kind == 'X' ? "0123456789ABCDEF" : "0123456789abcdef";
	const uint32_t base = kind == 'x' || kind == 'X' || kind == 'p' ? 16 : 10;
	const bool prefixed = base == 16 && value != 0 && (conversion->prefix || kind == 'p');
	char text[DIGITS];
	size_t at = sizeof(text);

	do {
		text[--at] = digits[value % base];
		value /= base;
	} while (value != 0);
	put_field(output, conversion, negative ? "-" : prefixed ? "0x" : "", &text[at], sizeof(text) - at);
}

static uint64_t next_unsigned(const struct conversion *conversion, va_list *arguments)
{
	if (conversion->longs == 2)
		return va_arg(*arguments, unsigned long long);
	return conversion->longs == 1 ? va_arg(*arguments, unsigned long) : va_arg(*arguments, unsigned);
}

static int64_t take_signed(const struct conversion *conversion, va_list *arguments)
{
	if (conversion->longs == 2)
		return va_arg(*arguments, long long);
	return conversion->longs == 1 ? va_arg(*arguments, long) : va_arg(*arguments, int);
}

static size_t parse_width(const char **format, va_list *arguments)
{
	size_t number = 0;

	if (**format == '*') {
		(*format)++;
		return (size_t)va_arg(*arguments, int);
	}
	for (; **format >= '0' && **format <= '9'; (*format)++)
		number = number * 10 + (size_t)(**format - '0');
	return number;
}

/** Parses what stands between the % and the letter. */
static struct conversion take_conversion(const char **format, va_list *arguments)
{
	struct conversion conversion = {.precision = SIZE_MAX};

	for (; **format == '-' || **format == '0' || **format == '#'; (*format)++) {
		conversion.left = conversion.left || **format == '-';
		conversion.zeros = conversion.zeros || **format == '0';
		conversion.prefix = conversion.prefix || **format == '#';
	}
	conversion.width = parse_width(format, arguments);
	if (**format == '.') {
		(*format)++;
		conversion.precision = parse_width(format, arguments);
	}
	for (; **format == 'l'; (*format)++)
		conversion.longs++;
	if (**format == 'z') {
		conversion.longs = sizeof(size_t) == sizeof(unsigned long) ? 1 : 2;
		(*format)++;
	}
	return conversion;
}

/** Length of a text that may lack its terminating 0, up to the precision. */
static size_t text_length(const char *text, size_t most)
{
	size_t length = 0;

	while (length < most && text[length] != '\0')
		length++;
	return length;
}

static void convert(struct output *output, const struct conversion *conversion, char kind, va_list *arguments)
{
	int64_t number;
	char letter;
	const char *text;

	switch (kind) {
	case 'd':
	case 'i':
		number = take_signed(conversion, arguments);
		put_number(output, conversion, number < 0 ? 0 - (uint64_t)number : (uint64_t)number,
			   number < 0, kind);
		break;
	case 'u':
	case 'x':
	case 'X':
		put_number(output, conversion, next_unsigned(conversion, arguments), false, kind);
		break;
	case 'p':
		put_number(output, conversion, (uintptr_t)va_arg(*arguments, void *), false, kind);
		break;
	case 'c':
		letter = (char)va_arg(*arguments, int);
		put_field(output, conversion, "", &letter, 1);
		break;
	case 's':
		text = va_arg(*arguments, const char *);
		put_field(output, conversion, "", text, text_length(text, conversion->precision));
		break;
	case '%':
		put(output, "%", 1);
		break;
	default: /* a suite needs a conversion that is missing here */
		pb_hal_halt();
	}
}

int vsnprintf(char *text, size_t bytes, const char *format, va_list arguments)
{
	struct output output = {.text = text, .room = bytes};
	va_list rest;

	va_copy(rest, arguments);
	while (*format != '\0') {
		const size_t plain = strcspn(format, "%");

		put(&output, format, plain);
		format += plain;
		if (*format == '%') {
			format++;
			const struct conversion conversion = take_conversion(&format, &rest);

			convert(&output, &conversion, *format++, &rest);
		}
	}
	va_end(rest);
	if (bytes > 0)
		text[output.length < bytes ? output.length : bytes - 1] = '\0';
	return (int)output.length;
}

int snprintf(char *text, size_t bytes, const char *format, ...)
{
	va_list arguments;
	int length;

	va_start(arguments, format);
	length = vsnprintf(text, bytes, format, arguments);
	va_end(arguments);
	return length;
}
