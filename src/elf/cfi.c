/* cfi.c: reads the records of a section, and generates rows. */

#include "cfi.h"

#include "cfi_codes.h"
#include "cfi_program.h"
#include "intern.h"
#include "mem.h"

#include <string.h>

#define ID_CIE_EH	0u
#define ID_CIE_DEBUG	UINT32_MAX
#define RULES_MAX	UINT16_MAX		/* different rules per file; Debian's largest libraries have about 900 */

static const struct cfi_registers x86_64 = { .sp = 7, .fp = 6, .bx = 3, .ra = 16 };
static const struct cfi_registers arm64 = { .sp = 31, .fp = 29, .bx = CFI_NO_REGISTER, .ra = 30, .link = true };

struct cie {
	uint32_t offset;			/* in the section */
	uint8_t encoding;			/* encoding of an FDE's addresses */
	bool has_data, signal;
	uint64_t code_align;
	int64_t data_align;
	struct cfi_state initial;
};

struct fde {
	uint32_t start, size;			/* range of code */
	uint32_t cie;
	struct cfi_bytes instructions;
};

struct reading {
	const struct cfi_registers *registers;
	struct elf_bytes section;
	uint64_t address;			/* address of the section in a process */
	bool debug;				/* .debug_frame */
	struct cie *cies;			/* by offset, in the order of the file */
	size_t cie_count, cie_capacity;
	struct fde *fdes;
	size_t fde_count, fde_capacity;
	struct cfi_table *table;
	struct intern rules;
	uint64_t end;				/* end of the current function, which limits its rows */
};

/* --- Records --- */

/* Reads an address in one of the encodings of exception tables. */
static uint64_t encoded(const struct reading *r, struct cfi_bytes *b, uint8_t encoding)
{
	uint64_t here = r->address + (uint64_t)(b->at - r->section.data), v = 0;

	switch (encoding & DW_EH_PE_form) {
	case DW_EH_PE_absptr:
	case DW_EH_PE_udata8:
	case DW_EH_PE_sdata8: v = cfi_fixed(b, 8); break;
	case DW_EH_PE_udata4: v = cfi_fixed(b, 4); break;
	case DW_EH_PE_sdata4: v = (uint64_t)(int64_t)(int32_t)cfi_fixed(b, 4); break;
	case DW_EH_PE_udata2: v = cfi_fixed(b, 2); break;
	case DW_EH_PE_sdata2: v = (uint64_t)(int64_t)(int16_t)cfi_fixed(b, 2); break;
	case DW_EH_PE_uleb128: v = cfi_uleb(b); break;
	case DW_EH_PE_sleb128: v = (uint64_t)cfi_sleb(b); break;
	default: b->bad = true;
	}
	if ((encoding & DW_EH_PE_base) == DW_EH_PE_pcrel)
		v += here;
	else if (encoding & (DW_EH_PE_base | DW_EH_PE_indirect))
		b->bad = true;
	return v;
}

/* Reads "zPLR" or similar: each letter announces further data in the record. */
static void read_augmentation(const struct reading *r, struct cie *c, const char *letters, struct cfi_bytes *b)
{
	uint64_t n = cfi_uleb(b);
	struct cfi_bytes data = { b->at, b->at, false };

	if (n > (uint64_t)(b->end - b->at)) {
		b->bad = true;
		return;
	}
	data.end = b->at += n;
	for (; *letters && !data.bad; letters++) {
		if (*letters == 'R')
			c->encoding = (uint8_t)cfi_fixed(&data, 1);
		else if (*letters == 'L')
			cfi_fixed(&data, 1);
		else if (*letters == 'P')
			/* Only the size of the personality's address is needed, so base and indirection are ignored. */
			encoded(r, &data, (uint8_t)cfi_fixed(&data, 1) & DW_EH_PE_form);
		else if (*letters == 'S')
			c->signal = true;
		else if (*letters != 'B' && *letters != 'G')
			break;
	}
	b->bad = data.bad;
}

static void no_row(void *arg, uint64_t pc, const struct unwind_rule *rule)
{
}

static bool read_cie(const struct reading *r, struct cie *c, struct cfi_bytes b)
{
	uint8_t version = (uint8_t)cfi_fixed(&b, 1);
	const char *letters = (const char *)b.at;
	const uint8_t *end = memchr(b.at, 0, (size_t)(b.end - b.at));
	struct cfi_program p = { .registers = r->registers, .row = no_row };

	if ((version != 1 && version != 3 && version != 4) || !end)
		return false;
	b.at = end + 1;
	if (version == 4 && (cfi_fixed(&b, 1) != 8 || cfi_fixed(&b, 1) != 0))
		return false;
	c->code_align = cfi_uleb(&b);
	c->data_align = cfi_sleb(&b);
	if ((version == 1 ? cfi_fixed(&b, 1) : cfi_uleb(&b)) != r->registers->ra)
		return false;
	if (*letters == 'z') {
		c->has_data = true;
		read_augmentation(r, c, letters + 1, &b);
	} else if (*letters) {
		return false;
	}
	p.code_align = c->code_align;
	p.data_align = c->data_align;
	if (b.bad || c->encoding == DW_EH_PE_omit || !cfi_run(&p, 0, b))
		return false;
	c->initial = p.state;
	return true;
}

/* They are sorted by offset. */
static const struct cie *find_cie(const struct reading *r, uint64_t offset, uint32_t *ret_index)
{
	size_t low = 0, high = r->cie_count;

	while (low < high) {
		size_t mid = (low + high) / 2;

		if (r->cies[mid].offset < offset)
			low = mid + 1;
		else
			high = mid;
	}
	*ret_index = (uint32_t)low;
	return low < r->cie_count && r->cies[low].offset == offset ? &r->cies[low] : NULL;
}

static bool read_fde(struct reading *r, uint64_t cie_offset, struct cfi_bytes b)
{
	struct fde f = { 0 };
	const struct cie *c = find_cie(r, cie_offset, &f.cie);
	uint64_t start, size, skip;

	if (!c)
		return false;
	start = encoded(r, &b, c->encoding);
	size = encoded(r, &b, c->encoding & DW_EH_PE_form);
	if (c->has_data) {
		skip = cfi_uleb(&b);
		if (skip > (uint64_t)(b.end - b.at))
			return false;
		b.at += skip;
	}
	if (b.bad || start > UINT32_MAX || size > UINT32_MAX - start)
		return false;
	/* Linkers leave functions of size 0, or at address 0, where they have removed one. */
	if (size == 0 || start == 0)
		return true;
	f.start = (uint32_t)start;
	f.size = (uint32_t)size;
	f.instructions = b;
	GROW(&r->fdes, &r->fde_capacity, r->fde_count + 1);
	r->fdes[r->fde_count++] = f;
	return true;
}

/* CIEs are read first: in .debug_frame, an FDE may precede its CIE. */
static void read_records(struct reading *r, bool cies)
{
	struct cfi_bytes b = { r->section.data, r->section.data + r->section.size, false };

	while (b.end - b.at >= 4) {
		uint32_t offset = (uint32_t)(b.at - r->section.data), size = (uint32_t)cfi_fixed(&b, 4), id;
		struct cfi_bytes record = { b.at, b.at, false };
		bool is_cie;

		/* The .eh_frame of several files, each with a terminating zero, may have been merged. */
		if (size == 0)
			continue;
		if (size == UINT32_MAX || size < 4 || size > (uint64_t)(b.end - b.at)) {
			r->table->damaged += cies;
			return;
		}
		record.end = b.at += size;
		id = (uint32_t)cfi_fixed(&record, 4);
		is_cie = id == (r->debug ? ID_CIE_DEBUG : ID_CIE_EH);
		if (is_cie != cies)
			continue;
		if (is_cie) {
			struct cie c = { .offset = offset };

			if (!read_cie(r, &c, record)) {
				r->table->damaged++;
				continue;
			}
			GROW(&r->cies, &r->cie_capacity, r->cie_count + 1);
			r->cies[r->cie_count++] = c;
		} else if (!read_fde(r, r->debug ? id : (uint64_t)offset + 4 - id, record)) {
			r->table->damaged++;
		}
	}
}

/* --- Rows --- */

static uint16_t rule_number(struct reading *r, const struct unwind_rule *rule)
{
	static const struct unwind_rule unsupported = { .cfa = UNWIND_CFA_UNSUPPORTED, .ra = UNWIND_RA_UNSUPPORTED };
	uint32_t number = r->rules.count < RULES_MAX ? intern_add(&r->rules, (const char *)rule, sizeof(*rule)) :
						       intern_find(&r->rules, (const char *)rule, sizeof(*rule));

	if (number == UINT32_MAX) {
		number = intern_find(&r->rules, (const char *)&unsupported, sizeof(unsupported));
		r->table->unsupported++;
	} else if (rule->cfa == UNWIND_CFA_UNSUPPORTED) {
		r->table->unsupported++;
	}
	return (uint16_t)number;
}

static void put_row(struct cfi_table *t, uint32_t pc, uint16_t rule)
{
	if (t->rows && t->pcs[t->rows - 1] == pc) {
		t->rows--;
		/* A row that equals the previous one is not needed. */
		if (t->rows && t->row_rules[t->rows - 1] == rule)
			return;
	} else if (t->rows && t->row_rules[t->rows - 1] == rule) {
		return;
	}
	/* Nothing is known from here on: rule 0. */
	if (t->rows == CFI_ROWS_MAX) {
		t->row_rules[t->rows - 1] = 0;
		t->left_out++;
		return;
	}
	GROW(&t->pcs, &t->rows_capacity, t->rows + 1);
	GROW(&t->row_rules, &t->row_rules_capacity, t->rows + 1);
	t->pcs[t->rows] = pc;
	t->row_rules[t->rows++] = rule;
}

static void take_row(void *arg, uint64_t pc, const struct unwind_rule *rule)
{
	struct reading *r = arg;
	const struct cfi_table *t = r->table;

	/* Damaged instructions may advance beyond the last address, and wrap around. */
	if (pc < r->end && (!t->rows || pc >= t->pcs[t->rows - 1]))
		put_row(r->table, (uint32_t)pc, rule_number(r, rule));
}

static int by_start(const void *a, const void *b)
{
	const struct fde *x = a, *y = b;

	return x->start < y->start ? -1 : x->start > y->start ? 1 : x->size < y->size ? -1 : x->size > y->size;
}

static void make_rows(struct reading *r)
{
	static const struct unwind_rule none;
	struct cfi_table *t = r->table;

	if (r->fde_count)
		qsort(r->fdes, r->fde_count, sizeof(*r->fdes), by_start);
	t->functions = xmalloc((r->fde_count + 1) * sizeof(*t->functions));
	for (size_t i = 0; i < r->fde_count; i++) {
		const struct fde *f = &r->fdes[i];
		const struct cie *c = &r->cies[f->cie];
		struct cfi_program p = {
			.registers = r->registers, .code_align = c->code_align, .data_align = c->data_align, .signal = c->signal,
			.initial = &c->initial, .state = c->initial, .row = take_row, .arg = r,
		};

		/* If two begin at the same address, the longer one is the last. */
		if (i + 1 < r->fde_count && r->fdes[i + 1].start == f->start)
			continue;
		r->end = (uint64_t)f->start + f->size;
		if (i + 1 < r->fde_count && r->fdes[i + 1].start < r->end)
			r->end = r->fdes[i + 1].start;
		t->functions[t->function_count++] = f->start;
		if (!cfi_run(&p, f->start, f->instructions))
			t->damaged++;
		put_row(t, (uint32_t)r->end, rule_number(r, &none));
	}
}

/* --- The section --- */

/* Finds .eh_frame without sections, through its header: version 1, three encodings, the address of .eh_frame, … */
static bool by_header(const struct elf *e, struct reading *r)
{
	for (unsigned i = 0; i < e->segment_count; i++) {
		const Elf64_Phdr *p = &e->segments[i];
		_cleanup_(elf_bytes_done) struct elf_bytes h = { 0 };
		struct reading header = { 0 };
		struct cfi_bytes b;
		uint64_t offset, size;

		if (p->p_type != PT_GNU_EH_FRAME || elf_read(e, p->p_offset, p->p_filesz < 16 ? p->p_filesz : 16, &h, NULL) < 0)
			continue;
		header.section = h;
		header.address = p->p_vaddr;
		b = (struct cfi_bytes){ h.data, h.data + h.size, false };
		if (cfi_fixed(&b, 1) != 1 || h.size < 4)
			continue;
		b.at = h.data + 4;
		r->address = encoded(&header, &b, h.data[1]);
		if (!b.bad && elf_offset_of(e, r->address, &offset, &size) && size <= CFI_SECTION_MAX &&
		    elf_read(e, offset, size, &r->section, NULL) >= 0)
			return true;
	}
	return false;
}

static int read_frames(const struct elf *e, const Elf64_Shdr *s, struct reading *r, struct err *err)
{
	if (s->sh_size > CFI_SECTION_MAX)
		return err_set(err, -E2BIG, "'%s' has too much call frame information: %llu bytes", e->name,
			       (unsigned long long)s->sh_size);
	return elf_read_section(e, s, &r->section, err);
}

static int find_section(const struct elf *e, struct reading *r, struct err *err)
{
	const Elf64_Shdr *s = elf_section(e, ".eh_frame", 0);

	/* A file with debug symbols has the section header of .eh_frame, but not its content. */
	if (s && s->sh_type != SHT_NOBITS && s->sh_size > 4) {
		r->address = s->sh_addr;
		return read_frames(e, s, r, err);
	}
	if (!s && by_header(e, r))
		return 0;
	s = elf_section(e, ".debug_frame", 0);
	if (!s || s->sh_type == SHT_NOBITS)
		return err_set(err, -ENOENT, "'%s' has no call frame information (.eh_frame)", e->name);
	r->debug = true;
	return read_frames(e, s, r, err);
}

int cfi_read(const struct elf *e, struct cfi_table *ret, struct err *err)
{
	static const struct unwind_rule none;
	struct reading r = { .table = ret };
	int status;

	*ret = (struct cfi_table){ 0 };
	if (e->machine != EM_X86_64 && e->machine != EM_AARCH64)
		return err_set(err, -ENOTSUP, "'%s' is for an unsupported machine (%u)", e->name, e->machine);
	r.registers = e->machine == EM_X86_64 ? &x86_64 : &arm64;
	status = find_section(e, &r, err);
	if (status < 0)
		return status;

	intern_init(&r.rules);
	rule_number(&r, &none);
	rule_number(&r, &(struct unwind_rule){ .cfa = UNWIND_CFA_UNSUPPORTED, .ra = UNWIND_RA_UNSUPPORTED });
	ret->unsupported = 0;
	read_records(&r, true);
	read_records(&r, false);
	make_rows(&r);
	ret->rules = xmalloc(r.rules.count * sizeof(*ret->rules));
	ret->rule_count = r.rules.count;
	for (uint32_t i = 0; i < r.rules.count; i++)
		memcpy(&ret->rules[i], intern_get(&r.rules, i).p, sizeof(*ret->rules));

	intern_done(&r.rules);
	free(r.cies);
	free(r.fdes);
	elf_bytes_done(&r.section);
	return 0;
}

void cfi_done(struct cfi_table *t)
{
	free(t->pcs);
	free(t->row_rules);
	free(t->rules);
	free(t->functions);
	*t = (struct cfi_table){ 0 };
}

/* --- Lookup --- */

/* Returns how many of the ascending numbers are at most `v`. */
static size_t at_most(const uint32_t *list, size_t n, uint64_t v)
{
	size_t low = 0, high = n;

	while (low < high) {
		size_t mid = (low + high) / 2;

		if (list[mid] <= v)
			low = mid + 1;
		else
			high = mid;
	}
	return low;
}

struct unwind_rule cfi_rule(const struct cfi_table *t, uint64_t pc)
{
	size_t i = at_most(t->pcs, t->rows, pc);

	return i ? t->rules[t->row_rules[i - 1]] : (struct unwind_rule){ 0 };
}

bool cfi_function(const struct cfi_table *t, uint64_t pc, uint32_t *ret_start)
{
	size_t i = at_most(t->functions, t->function_count, pc);

	if (!i || cfi_rule(t, pc).cfa == UNWIND_CFA_NONE)
		return false;
	*ret_start = t->functions[i - 1];
	return true;
}
