# SPDX-License-Identifier: GPL-2.0-or-later
"""A caller of libexitmeter through ctypes: meters a process that runs, shares it out.

usage: share.py LIBRARY
"""
import ctypes as c
import sys


class Mark(c.Structure):
    _fields_ = [("at", c.c_double), ("rss", c.c_int64), ("cpu", c.c_double), ("cpus", c.c_double)]


class Span(c.Structure):
    _fields_ = [("id", c.c_int64), ("started", c.c_double), ("ended", c.c_double)]


class Usage(c.Structure):
    _fields_ = [("peak_rss_bytes", c.c_int64), ("cpu_seconds", c.c_double), ("peak_cpus", c.c_double)]


em = c.CDLL(sys.argv[1])
em.em_meter_new.restype = c.c_void_p
em.em_meter_new.argtypes = [c.c_double, c.c_double]
em.em_meter_sample.restype = c.c_bool
em.em_meter_sample.argtypes = [c.c_void_p, c.c_int64, c.c_double, c.c_double]
em.em_meter_end.argtypes = [c.c_void_p, c.c_int64, c.c_double, c.c_double]
em.em_meter_aged.restype = c.c_size_t
em.em_meter_aged.argtypes = [c.c_void_p, c.c_double, c.POINTER(Mark), c.c_size_t]
em.em_meter_free.argtypes = [c.c_void_p]
em.em_attribute.argtypes = [c.POINTER(Mark), c.c_size_t, c.c_int64, c.POINTER(Span), c.c_size_t,
                            c.POINTER(Usage)]
em.em_marks_json.argtypes = [c.POINTER(Mark), c.c_size_t, c.c_char_p, c.c_size_t]
em.em_usage_json.argtypes = [c.POINTER(Usage), c.c_char_p, c.c_size_t]

MIB = 1 << 20
# SPEC 1.10
meter = em.em_meter_new(0.0, -1.0)
for at, rss, cpu in [(1, 100, .9), (2, 300, 2.8), (3, 250, 4.6), (4, 800, 8.5), (5, 120, 8.7)]:
    assert em.em_meter_sample(meter, rss * MIB, cpu, at)
em.em_meter_end(meter, 700 * MIB, 9.0, 5.5)
marks = (Mark * 1024)()
n = em.em_meter_aged(meter, 6.0, marks, len(marks))
em.em_meter_free(meter)

text = c.create_string_buffer(4096)
em.em_marks_json(marks, n, text, len(text))
print(text.value.decode())

spans = (Span * 4)((1, 5.8, 3.5), (2, 3.5, 1.2), (3, 1.15, 1.1), (4, 1.05, -1))
usages = (Usage * 4)()
em.em_attribute(marks, n, 700 * MIB, spans, 4, usages)
for usage in usages:
    em.em_usage_json(usage, text, len(text))
    print(text.value.decode())
