// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * energy_nvml - what NVIDIA's management library counts of each card
 *
 * The library is not needed to build: what is called of it is declared here.  EM_NO_DLOPEN: for
 * the static program, which cannot load one.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

#include "host/energy_find.h"

#ifdef EM_NO_DLOPEN

void energy_find_nvml(struct energy_domains *all)
{
	energy_add_none(all, ENERGY_NVML, -ENOENT, "the static program cannot load libraries");
}

#else

#include <dlfcn.h>

#define LIBRARY      "libnvidia-ml.so.1"
#define CARDS_MOST   64
#define MILLIJOULE   1000 /* uj */
#define NO_LIBRARY   "there is no " LIBRARY
#define NO_FUNCTIONS LIBRARY " lacks functions"
#define COVERS       "the card: all processes; not processors, which are counted by others"

/* As the library's documentation has them. */
enum nvml_result { NVML_SUCCESS = 0, NVML_NOT_SUPPORTED = 3, NVML_NO_PERMISSION = 4 };
typedef struct nvml_device *nvml_device_handle;

struct nvml {
	void *library;
	int users; /* cards that are read through it */
	enum nvml_result (*init)(void);
	enum nvml_result (*shutdown)(void);
	enum nvml_result (*count)(unsigned int *ret);
	enum nvml_result (*handle)(unsigned int i, nvml_device_handle *ret);
	enum nvml_result (*energy)(nvml_device_handle card, unsigned long long *ret_mj);
};

struct card {
	struct nvml *nvml;
	nvml_device_handle handle;
};

static int errno_of(enum nvml_result r)
{
	if (r == NVML_SUCCESS)
		return 0;
	if (r == NVML_NO_PERMISSION)
		return -EACCES;
	return r == NVML_NOT_SUPPORTED ? -ENOTSUP : -EIO;
}

static void put_nvml(struct nvml *n)
{
	if (n->users--)
		return;
	n->shutdown();
	dlclose(n->library);
	free(n);
}

static int read_card(void *ctx, uint64_t *ret_uj)
{
	const struct card *c = ctx;
	unsigned long long mj;
	int err = errno_of(c->nvml->energy(c->handle, &mj));

	if (!err && mj > UINT64_MAX / MILLIJOULE)
		err = -ERANGE;
	if (!err)
		*ret_uj = mj * MILLIJOULE;
	return err;
}

static void close_card(void *ctx)
{
	struct card *c = ctx;

	put_nvml(c->nvml);
	free(c);
}

static bool find_functions(struct nvml *n)
{
	/* POSIX has a function's address in a pointer to anything; ISO C has not. */
	*(void **)&n->init = dlsym(n->library, "nvmlInit_v2");
	*(void **)&n->shutdown = dlsym(n->library, "nvmlShutdown");
	*(void **)&n->count = dlsym(n->library, "nvmlDeviceGetCount_v2");
	*(void **)&n->handle = dlsym(n->library, "nvmlDeviceGetHandleByIndex_v2");
	*(void **)&n->energy = dlsym(n->library, "nvmlDeviceGetTotalEnergyConsumption");
	return n->init && n->shutdown && n->count && n->handle && n->energy;
}

static void add_card(struct energy_domains *all, struct nvml *n, unsigned int i)
{
	struct card *c = malloc(sizeof(*c));
	struct energy_domain d = {
		.source = ENERGY_NVML, .covers = COVERS, .read = read_card, .close = close_card
	};

	if (!c || asprintf(&d.name, "gpu-%u", i) < 0) {
		free(c);
		return;
	}
	*c = (struct card){ .nvml = n };
	d.ctx = c;
	d.err = errno_of(n->handle(i, &c->handle));
	n->users++;
	energy_add(all, &d);
}

/* The library is the cards' from here on; without any it goes. */
static void add_cards(struct energy_domains *all, struct nvml *n)
{
	unsigned int cards = 0;
	enum nvml_result r = n->count(&cards);

	for (unsigned int i = 0; r == NVML_SUCCESS && i < cards && i < CARDS_MOST; i++)
		add_card(all, n, i);
	put_nvml(n);
}

void energy_find_nvml(struct energy_domains *all)
{
	struct nvml *n = calloc(1, sizeof(*n));
	const size_t before = all->n;
	const char *why = NO_LIBRARY;

	if (n)
		n->library = dlopen(LIBRARY, RTLD_NOW | RTLD_LOCAL);
	if (n && n->library) {
		why = "it has no cards, or its driver is not there";
		if (!find_functions(n)) {
			why = NO_FUNCTIONS;
		} else if (n->init() == NVML_SUCCESS) {
			add_cards(all, n);
			n = NULL;
		}
	}
	if (n && n->library)
		dlclose(n->library);
	free(n);
	if (all->n == before)
		energy_add_none(all, ENERGY_NVML, -ENOENT, why);
}

#endif
