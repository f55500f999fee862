/* SPDX-License-Identifier: GPL-2.0-only */
/* JSON of the commands. Keys are string constants. */
#ifndef __CLI_JSON_H__
#define __CLI_JSON_H__

#include <stdbool.h>
#include <stdio.h>
#include <json-c/json.h>

static inline void json_add(struct json_object *to, const char *key, struct json_object *value)
{
	json_object_object_add_ex(to, key, value, JSON_C_OBJECT_ADD_KEY_IS_NEW |
						  JSON_C_OBJECT_ADD_CONSTANT_KEY);
}

static inline void json_add_number(struct json_object *to, const char *key, unsigned long long n)
{
	json_add(to, key, json_object_new_uint64(n));
}

static inline void json_add_string(struct json_object *to, const char *key, const char *s)
{
	json_add(to, key, json_object_new_string(s));
}

static inline void json_add_bool(struct json_object *to, const char *key, bool value)
{
	json_add(to, key, json_object_new_boolean(value));
}

extern bool json_pretty;	/* -p was given */

/* In one line or, with -p, in many; and frees it. */
void json_print(struct json_object *object);

/* The same of an object that is text already, in one line with its newline. */
void json_printf(const char *fmt, ...) __attribute__((format(printf, 1, 2)));

#endif /* __CLI_JSON_H__ */
