// SPDX-License-Identifier: GPL-2.0-or-later
#include "capture/source_bpf.h"

#include <stdlib.h>
#include <string.h>

#include <linux/bpf.h>

#include <bpf/libbpf.h>

static bool is_call(const struct bpf_insn *insn)
{
	return insn->code == (BPF_JMP | BPF_CALL) && !insn->src_reg &&
	       insn->imm == BPF_FUNC_get_current_task_btf;
}

static bool is_mark(const struct bpf_insn *insn)
{
	return (insn->code == (BPF_ALU64 | BPF_MOV | BPF_K) ||
		insn->code == (BPF_ALU | BPF_MOV | BPF_K)) &&
	       insn->dst_reg == BPF_REG_2 && insn->imm == EVENT_CAST_MARK;
}

void source_bpf_cast(const struct kernel_btf *btf, struct bpf_program *prog)
{
	int cast = kernel_btf_id(btf, KERNEL_ID_CAST), type = kernel_btf_id(btf, KERNEL_ID_TASK);
	size_t n = bpf_program__insn_cnt(prog);
	struct bpf_insn *code, *mark = NULL;

	if (!cast || !type)
		return;
	code = malloc(n * sizeof(*code));
	if (!code)
		return;
	memcpy(code, bpf_program__insns(prog), n * sizeof(*code));
	for (size_t i = 0; i < n; i++) {
		if (is_mark(&code[i])) {
			mark = &code[i];
		} else if (mark && is_call(&code[i])) {
			mark->imm = type;
			code[i].src_reg = BPF_PSEUDO_KFUNC_CALL;
			code[i].imm = cast;
			bpf_program__set_insns(prog, code, n);
			break;
		}
	}
	free(code);
}
