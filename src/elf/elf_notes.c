/* elf_notes.c: reads build ID and debuglink. */

#include "elf_file.h"

#include "mem.h"

#include <limits.h>
#include <string.h>

#define NOTES_MAX	((uint64_t)1 << 20)

/* Consecutive notes: {size of the owner, size of the content, type}, owner, content, both padded to 4. */
static size_t build_id_in(const struct elf_bytes *notes, uint8_t ret_id[ELF_BUILD_ID])
{
	size_t at = 0;

	while (notes->size - at >= sizeof(Elf64_Nhdr)) {
		Elf64_Nhdr n;
		uint64_t owner, content;

		memcpy(&n, notes->data + at, sizeof(n));
		at += sizeof(n);
		owner = ((uint64_t)n.n_namesz + 3) / 4 * 4;
		content = ((uint64_t)n.n_descsz + 3) / 4 * 4;
		if (owner > notes->size - at || n.n_descsz > notes->size - at - owner)
			return 0;
		if (n.n_type == NT_GNU_BUILD_ID && n.n_namesz == 4 && !memcmp(notes->data + at, "GNU", 4) && n.n_descsz &&
		    n.n_descsz <= ELF_BUILD_ID) {
			memcpy(ret_id, notes->data + at + owner, n.n_descsz);
			return n.n_descsz;
		}
		if (content > notes->size - at - owner)
			return 0;
		at += owner + content;
	}
	return 0;
}

size_t elf_build_id(const struct elf *e, uint8_t ret_id[ELF_BUILD_ID])
{
	const Elf64_Shdr *s = elf_section(e, ".note.gnu.build-id", 0);
	struct elf_bytes b = { 0 };
	size_t n = 0;

	for (unsigned i = 0; i < e->segment_count && !n; i++) {
		if (e->segments[i].p_type != PT_NOTE || e->segments[i].p_filesz > NOTES_MAX ||
		    elf_read(e, e->segments[i].p_offset, e->segments[i].p_filesz, &b, NULL) < 0)
			continue;
		n = build_id_in(&b, ret_id);
		elf_bytes_done(&b);
	}
	/* Files with debug symbols have the program's program headers, but other offsets. */
	if (!n && s && s->sh_size <= NOTES_MAX && elf_read_section(e, s, &b, NULL) >= 0) {
		n = build_id_in(&b, ret_id);
		elf_bytes_done(&b);
	}
	return n;
}

/* The format is a name, its NUL, padding to 4, and the CRC. */
bool elf_debuglink(const struct elf *e, char **ret_name, uint32_t *ret_crc)
{
	const Elf64_Shdr *s = elf_section(e, ".gnu_debuglink", 0);
	_cleanup_(elf_bytes_done) struct elf_bytes b = { 0 };
	size_t n;

	if (!s || s->sh_size > NAME_MAX + 8 || elf_read_section(e, s, &b, NULL) < 0)
		return false;
	n = strlen((char *)b.data);
	if (n == 0 || n > NAME_MAX || n / 4 * 4 + 8 > b.size || memchr(b.data, '/', n) ||
	    !strcmp((char *)b.data, ".") || !strcmp((char *)b.data, ".."))
		return false;
	memcpy(ret_crc, b.data + n / 4 * 4 + 4, 4);
	*ret_name = xstrdup((char *)b.data);
	return true;
}
