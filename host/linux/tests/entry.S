/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/*
 * The first page of a kernel that the emulator's firmware loads like a compressed one, at 1 MiB, but that is not compressed:
 * scripts/linux_sleep.py puts it there, and the kernel's image behind it, at 16 MiB. The kernel's own setup code jumps here in
 * 32 bits, with esi = the boot parameters; the kernel is entered in 64 bits, with memory mapped to itself.
 */
#define LOAD   0x100000
#define KERNEL 0x1000000
/* Present, writable; present, writable, of 2 MiB. */
#define TABLE 0x3
#define LARGE 0x83

	.code32
start:
	cli
	lgdt LOAD + (descriptors - start)
	mov $0x18, %eax
	mov %eax, %ds
	mov %eax, %es
	mov %eax, %ss
	mov %cr4, %eax
	or $0x20, %eax /* PAE */
	mov %eax, %cr4
	mov $(LOAD + 0x1000), %eax
	mov %eax, %cr3
	mov $0xc0000080, %ecx
	rdmsr
	or $0x100, %eax /* long mode */
	wrmsr
	mov %cr0, %eax
	or $0x80000001, %eax /* paging, protection */
	mov %eax, %cr0
	ljmp $0x10, $(LOAD + (long - start))

	.code64
long:
	mov %esi, %esi
	mov $KERNEL, %eax
	jmp *%rax

	.balign 8
table:
	.quad 0
	.quad 0
	.quad 0x00af9a000000ffff /* 0x10: code of 64 bits */
	.quad 0x00cf92000000ffff /* 0x18: data */
descriptors:
	.word descriptors - table - 1
	.long LOAD + (table - start)

	/* The first GiB. */
	.org 0x1000
	.quad LOAD + 0x2000 + TABLE
	.org 0x2000
	.quad LOAD + 0x3000 + TABLE
	.org 0x3000
	.set page, 0
	.rept 512
	.quad page + LARGE
	.set page, page + 0x200000
	.endr
