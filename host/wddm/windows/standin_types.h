/* SPDX-License-Identifier: MIT */
/* Types of Windows that the documented structs are made of, as far as the tables of their layout name them. */
#ifndef PB_HOST_WDDM_WINDOWS_STANDIN_TYPES_H
#define PB_HOST_WDDM_WINDOWS_STANDIN_TYPES_H

#define APIENTRY __stdcall
#define CONST    const
#define TRUE     1
#define FALSE    0

#define EXCEPTION_EXECUTE_HANDLER 1 /* of excpt.h */

typedef void VOID;
typedef void *PVOID;
typedef void *HANDLE;
typedef short SHORT;
typedef unsigned short USHORT;
typedef unsigned int UINT;
typedef unsigned long ULONG;
typedef unsigned long long UINT64;
#ifdef _WIN64
typedef unsigned long long SIZE_T;
#else
typedef unsigned int SIZE_T;
#endif
typedef unsigned char BOOLEAN;
typedef long NTSTATUS;
typedef union {
	struct {
		unsigned long LowPart;
		long HighPart;
	} u;
	long long QuadPart;
} PHYSICAL_ADDRESS;
typedef struct {
	long left;
	long top;
	long right;
	long bottom;
} RECT;

#endif
