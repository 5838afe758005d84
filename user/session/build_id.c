// SPDX-License-Identifier: GPL-2.0-or-later
#include "session/build_id.h"

#include <elf.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define BUILD_ID_MAX 64

/* The build id among the notes at @at; NULL for none. */
static char *build_id_in(const unsigned char *at, size_t len)
{
	size_t i = 0;

	while (i + sizeof(Elf64_Nhdr) <= len) {
		Elf64_Nhdr n; /* the same layout in 32 bits */
		size_t desc;
		char *text;

		memcpy(&n, at + i, sizeof(n));
		desc = i + sizeof(n) + (((size_t)n.n_namesz + 3) & ~(size_t)3);
		if (desc > len || n.n_descsz > len - desc)
			return NULL;
		if (n.n_type == NT_GNU_BUILD_ID && n.n_namesz == 4 && n.n_descsz &&
		    n.n_descsz <= BUILD_ID_MAX && !memcmp(at + i + sizeof(n), "GNU", 4)) {
			text = malloc(2 * (size_t)n.n_descsz + 1);
			for (size_t k = 0; text && k < n.n_descsz; k++)
				sprintf(text + 2 * k, "%02x", at[desc + k]);
			return text;
		}
		i = desc + (((size_t)n.n_descsz + 3) & ~(size_t)3);
	}
	return NULL;
}

#define BUILD_ID_OF(bits)                                                        \
	static char *build_id_##bits(const unsigned char *file, size_t size)     \
	{                                                                        \
		Elf##bits##_Ehdr e;                                              \
		Elf##bits##_Phdr p;                                              \
		char *id = NULL;                                                 \
                                                                                 \
		if (size < sizeof(e))                                            \
			return NULL;                                             \
		memcpy(&e, file, sizeof(e));                                     \
		for (size_t i = 0; !id && i < e.e_phnum; i++) {                  \
			size_t at = (size_t)e.e_phoff + i * sizeof(p);           \
                                                                                 \
			if (at > size || size - at < sizeof(p))                  \
				return NULL;                                     \
			memcpy(&p, file + at, sizeof(p));                        \
			if (p.p_type == PT_NOTE && p.p_offset <= size &&         \
			    p.p_filesz <= size - p.p_offset)                     \
				id = build_id_in(file + p.p_offset, p.p_filesz); \
		}                                                                \
		return id;                                                       \
	}
BUILD_ID_OF(32)
BUILD_ID_OF(64)

char *build_id_of(const unsigned char *file, size_t size)
{
	if (size < EI_NIDENT || memcmp(file, ELFMAG, SELFMAG) != 0)
		return NULL;
	return file[EI_CLASS] == ELFCLASS32 ? build_id_32(file, size) : build_id_64(file, size);
}
