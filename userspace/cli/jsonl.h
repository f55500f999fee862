/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef __JSONL_H__
#define __JSONL_H__

#include "reading.h"

/* A line each; 0 or -1. */
int jsonl_record(const struct bpfrelay_log_info *info, enum when_format format,
		 const struct bpfrelay_record *record);
void jsonl_loss(const struct bpfrelay_log_info *info, enum when_format format,
		const struct bpfrelay_item *item);

const char *loss_reason(enum bpfrelay_loss reason);

#endif /* __JSONL_H__ */
