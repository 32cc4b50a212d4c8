/* cfi_codes.h: DWARF constants used by call frame information, so that dwarf.h is not needed to build. */
#ifndef ELF_CFI_CODES_H
#define ELF_CFI_CODES_H

enum {
	DW_CFA_nop,
	DW_CFA_set_loc,
	DW_CFA_advance_loc1,
	DW_CFA_advance_loc2,
	DW_CFA_advance_loc4,
	DW_CFA_offset_extended,
	DW_CFA_restore_extended,
	DW_CFA_undefined,
	DW_CFA_same_value,
	DW_CFA_register,
	DW_CFA_remember_state,
	DW_CFA_restore_state,
	DW_CFA_def_cfa,
	DW_CFA_def_cfa_register,
	DW_CFA_def_cfa_offset,
	DW_CFA_def_cfa_expression,
	DW_CFA_expression,
	DW_CFA_offset_extended_sf,
	DW_CFA_def_cfa_sf,
	DW_CFA_def_cfa_offset_sf,
	DW_CFA_val_offset,
	DW_CFA_val_offset_sf,
	DW_CFA_val_expression,
	DW_CFA_GNU_window_save = 0x2d,
	DW_CFA_GNU_args_size,
	DW_CFA_GNU_negative_offset_extended,
	/* With an operand in the lower six bits. */
	DW_CFA_advance_loc = 0x40,
	DW_CFA_offset = 0x80,
	DW_CFA_restore = 0xc0,
};

enum {
	DW_OP_deref = 0x06,
	DW_OP_and = 0x1a,
	DW_OP_plus = 0x22,
	DW_OP_plus_uconst,
	DW_OP_shl,
	DW_OP_ge = 0x2a,
	DW_OP_lit0 = 0x30,
	DW_OP_lit3 = 0x33,
	DW_OP_lit15 = 0x3f,
	DW_OP_breg0 = 0x70,
	DW_OP_breg16 = 0x80,
	DW_OP_breg31 = 0x8f,
	DW_OP_bregx = 0x92,
};

/* The encoding of a pointer: its format in the lower four bits, its base in the next three. */
enum {
	DW_EH_PE_absptr,
	DW_EH_PE_uleb128,
	DW_EH_PE_udata2,
	DW_EH_PE_udata4,
	DW_EH_PE_udata8,
	DW_EH_PE_sleb128 = 0x09,
	DW_EH_PE_sdata2,
	DW_EH_PE_sdata4,
	DW_EH_PE_sdata8,
	DW_EH_PE_form = 0x0f,
	DW_EH_PE_pcrel = 0x10,
	DW_EH_PE_base = 0x70,
	DW_EH_PE_indirect = 0x80,
	DW_EH_PE_omit = 0xff,
};

#endif
