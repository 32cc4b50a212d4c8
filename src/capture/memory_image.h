/* memory_image.h: reads parts of a process' memory from a text file, for testing walkers.
 *
 * A line is "ADDRESS BYTES", both hexadecimal, or "NAME=NUMBER", or begins with #. Including this file defines
 * read_user and read_user_text to read the image that was loaded last.
 */
#ifndef CAPTURE_MEMORY_IMAGE_H
#define CAPTURE_MEMORY_IMAGE_H

#include "bpf/user_memory.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define IMAGE_PARTS	8192u
#define IMAGE_NUMBERS	32u
#define IMAGE_LINE	4096u

static struct {
	struct image_part {
		u64 address;
		u32 size;
		u8 *bytes;
	} parts[IMAGE_PARTS];
	size_t part_count;
	struct {
		char name[32];
		u64 value;
	} numbers[IMAGE_NUMBERS];
	size_t number_count;
} image;

static inline void image_take_line(const char *line)
{
	char name[32], hex[IMAGE_LINE];
	unsigned long long address, value;
	struct image_part *p = &image.parts[image.part_count];

	if (*line == '#' || *line == '\n')
		return;
	if (image.number_count < IMAGE_NUMBERS && sscanf(line, "%31[a-z_]=%llu", name, &value) == 2) {
		strcpy(image.numbers[image.number_count].name, name);
		image.numbers[image.number_count++].value = value;
		return;
	}
	if (image.part_count == IMAGE_PARTS || sscanf(line, "%llx %4095[0-9a-f]", &address, hex) != 2)
		abort();
	*p = (struct image_part){ address, (u32)(strlen(hex) / 2), malloc(strlen(hex) / 2) };
	for (u32 i = 0; i < p->size; i++) {
		unsigned byte;

		sscanf(hex + i * 2, "%2x", &byte);
		p->bytes[i] = (u8)byte;
	}
	image.part_count++;
}

static inline bool image_load(const char *path)
{
	char line[IMAGE_LINE + 32];
	FILE *f = fopen(path, "r");

	for (size_t i = 0; i < image.part_count; i++)
		free(image.parts[i].bytes);
	image.part_count = image.number_count = 0;
	while (f && fgets(line, sizeof(line), f))
		image_take_line(line);
	if (f)
		fclose(f);
	return image.part_count > 0;
}

static inline u64 image_number(const char *name)
{
	for (size_t i = 0; i < image.number_count; i++)
		if (!strcmp(image.numbers[i].name, name))
			return image.numbers[i].value;
	return 0;
}

/* Returns the address of the byte; NULL if it was not recorded. */
static inline u8 *image_byte(u64 address)
{
	for (size_t i = 0; i < image.part_count; i++)
		if (address >= image.parts[i].address && address - image.parts[i].address < image.parts[i].size)
			return image.parts[i].bytes + (address - image.parts[i].address);
	return NULL;
}

bool read_user(void *to, u32 size, u64 address)
{
	for (u32 i = 0; i < size; i++)
		if (!image_byte(address + i))
			return false;
	for (u32 i = 0; i < size; i++)
		((u8 *)to)[i] = *image_byte(address + i);
	return true;
}

long read_user_text(char *to, u32 size, u64 address)
{
	for (u32 i = 0; i < size; i++) {
		const u8 *byte = image_byte(address + i);

		if (!byte)
			return -1;
		to[i] = i == size - 1 ? 0 : (char)*byte;
		if (!to[i])
			return (long)i + 1;
	}
	return -1;
}

#endif
