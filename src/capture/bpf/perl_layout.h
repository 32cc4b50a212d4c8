/* perl_layout.h: a Perl binary, as the walker needs it.
 *
 * Perl with threads has one struct per interpreter, and each thread a pointer to its own. Perl without them has one
 * interpreter, whose members are global variables.
 */
#ifndef CAPTURE_BPF_PERL_LAYOUT_H
#define CAPTURE_BPF_PERL_LAYOUT_H

/* Byte offsets inside Perl's structs, named as in its headers. */
struct perl_layout {
	u16 curstackinfo, curcop, defstash, defgv;	/* in the interpreter of a Perl with threads */
	u16 si_cxstack, si_prev, si_cxsubix, si_type;	/* in PERL_SI */
	u16 cx_size, cx_oldcop, cx_retop, cx_oldsubix, cx_namesv, cx_cv;	/* in PERL_CONTEXT; cx_type is 0 */
	u16 cv_stash, cv_start, cv_gv, cv_file, cv_flags, cv_depth;	/* in XPVCV */
	u16 gp_egv;			/* in GP */
	u16 gv_stash, gv_namehek;	/* in XPVGV */
	u16 hv_name, hv_name_count;	/* in the body of a stash: xhv_name_u and xhv_name_count of xpvhv_aux */
	u16 cop_line, cop_file;		/* in COP; without threads cop_filegv */
	u16 op_type;			/* in OP, the bit-field of 9 bits */
	u16 nextstate, dbstate;		/* values of op_type: a COP */
	u16 type_code, type_format;	/* values of SvTYPE: SVt_PVCV and SVt_PVFM */
};

/* Addresses are those in the ELF file. */
struct perl_place {
	u32 threads, pad;
	s64 tls_offset;			/* with threads: from the thread pointer to the interpreter's pointer */
	u64 tls_module;			/* library with threads: address of its thread-local block's number */
	u64 curstackinfo, curcop, defstash, defgv;	/* without threads */
	struct perl_layout layout;
};

#endif
