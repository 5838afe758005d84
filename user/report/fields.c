// SPDX-License-Identifier: GPL-2.0-or-later
#include "report/fields.h"

#include "model/summary.h"

#define TABLE(name, ...)                                           \
	static const struct field name##_list[] = { __VA_ARGS__ }; \
	const struct field_table name = { name##_list, sizeof(name##_list) / sizeof(struct field) }

#define P(field, member, kind)                                \
	{                                                     \
		field, offsetof(struct process, member), kind \
	}

TABLE(process_head_fields, P("pid", pid, FIELD_PID), P("ppid", ppid, FIELD_PID),
      P("comm", comm, FIELD_COMM));

TABLE(process_tail_fields, P("started", started_ns, FIELD_TIME), P("ended", ended_ns, FIELD_TIME),
      P("exit_code", exit_code, FIELD_INT), P("exit_signal", exit_signal, FIELD_INT),
      P("core_dumped", core_dumped, FIELD_FLAG), P("oom_killed", oom_killed, FIELD_FLAG),
      P("running", running, FIELD_FLAG), P("peak_rss_bytes", peak_rss_bytes, FIELD_INT),
      P("peak_rss_exact", peak_rss_exact, FIELD_FLAG),
      P("peak_rss_error_bytes", peak_error_bytes, FIELD_INT),
      P("peak_rss_final_bytes", final_peak_bytes, FIELD_INT),
      P("inherited_rss_bytes", inherited_rss_bytes, FIELD_INT),
      P("peak_vm_bytes", peak_vm_bytes, FIELD_INT), P("peak_source", peak_source, FIELD_SOURCE),
      P("cpu_seconds", cpu_ns, FIELD_NS), P("cpu_user_seconds", cpu_user_ns, FIELD_NS),
      P("cpu_system_seconds", cpu_system_ns, FIELD_NS), P("threads", threads, FIELD_INT),
      P("execs", execs, FIELD_INT), P("minor_faults", minor_faults, FIELD_INT),
      P("major_faults", major_faults, FIELD_INT),
      P("voluntary_ctxt_switches", voluntary_switches, FIELD_INT),
      P("involuntary_ctxt_switches", involuntary_switches, FIELD_INT));

#define S(field, member)                                             \
	{                                                            \
		field, offsetof(struct rss_split, member), FIELD_INT \
	}
TABLE(split_fields, S("anon", anon_bytes), S("file", file_bytes), S("shmem", shmem_bytes),
      S("swap", swap_bytes), S("hugetlb", hugetlb_bytes));

#define I(field)                                                     \
	{                                                            \
#field, offsetof(struct io_counts, field), FIELD_INT \
	}
TABLE(io_fields, I(read_bytes), I(write_bytes), I(cancelled_write_bytes), I(rchar), I(wchar),
      I(syscr), I(syscw));

#define R(field, member, kind)                                  \
	{                                                       \
		field, offsetof(struct run_facts, member), kind \
	}
TABLE(exe_fields, R("path", exe_path, FIELD_STRING), R("size", exe_size_bytes, FIELD_INT),
      R("mtime", exe_mtime_ns, FIELD_WALL_CLOCK), R("inode", exe_inode, FIELD_ID),
      R("build_id", exe_build_id, FIELD_STRING));
TABLE(run_head_fields, R("mode", mode, FIELD_STRING));
TABLE(run_tail_fields, R("started_at", started_at_ns, FIELD_WALL_CLOCK),
      R("wall_seconds", wall_ns, FIELD_NS), R("exit_code", exit_code, FIELD_INT),
      R("exit_signal", exit_signal, FIELD_INT), R("core_dumped", core_dumped, FIELD_FLAG),
      R("oom_killed", oom_killed, FIELD_FLAG), R("detached", detached, FIELD_FLAG));
TABLE(run_repeat_fields, R("repeat", repeat, FIELD_INT), R("repeats", repeats, FIELD_INT));

#define SF(field, member, kind)                                    \
	{                                                          \
		field, offsetof(struct source_facts, member), kind \
	}
TABLE(source_fields, SF("exits", exits, FIELD_STRING), SF("via", via, FIELD_STRING),
      SF("hook", hook, FIELD_STRING), SF("fallback_reason", fallback_reason, FIELD_STRING),
      SF("tree", tree, FIELD_STRING), SF("samples", samples, FIELD_STRING),
      SF("interval_seconds", interval_ns, FIELD_NS), SF("self_cpu_seconds", self_cpu_ns, FIELD_NS),
      SF("self_peak_rss_bytes", self_peak_rss_bytes, FIELD_INT), SF("stops", stops, FIELD_INT),
      SF("stopped_seconds", stopped_ns, FIELD_NS), SF("pss_readings", pss_readings, FIELD_INT),
      SF("pss_seconds", pss_ns, FIELD_NS), SF("pss_longest_seconds", pss_longest_ns, FIELD_NS));

#define C(field, kind)                                             \
	{                                                          \
#field, offsetof(struct completeness, field), kind \
	}
TABLE(completeness_fields, C(initial, FIELD_INT), C(forks, FIELD_INT), C(exits, FIELD_INT),
      C(running_at_end, FIELD_INT), C(events_lost, FIELD_INT), C(records_repaired, FIELD_INT),
      C(exact, FIELD_FLAG));

#define U(field, member, kind)                              \
	{                                                   \
		field, offsetof(struct usage, member), kind \
	}
TABLE(usage_peak_fields, U("peak_rss_bytes", peak_lower_bytes, FIELD_INT),
      U("cpu_seconds", cpu_ns, FIELD_NS), U("peak_cpus", peak_cpus, FIELD_DOUBLE),
      U("peak_rss_lower_bytes", peak_lower_bytes, FIELD_INT),
      U("peak_rss_upper_bytes", peak_upper_bytes, FIELD_INT),
      U("peak_rss_at_seconds", peak_at_ns, FIELD_TIME), U("peak_source", peak_source, FIELD_SOURCE),
      U("peak_rss_process_bytes", peak_process_bytes, FIELD_INT),
      U("peak_rss_sum_bytes", peak_sum_bytes, FIELD_INT),
      U("peak_pss_bytes", peak_pss_bytes, FIELD_INT),
      U("cgroup_peak_bytes", cgroup_peak_bytes, FIELD_INT));
TABLE(usage_cpu_fields, U("cpu_user_seconds", cpu_user_ns, FIELD_NS),
      U("cpu_system_seconds", cpu_system_ns, FIELD_NS),
      U("baseline_cpu_seconds", baseline_cpu_ns, FIELD_NS), U("mean_cpus", mean_cpus, FIELD_DOUBLE),
      U("max_processes", max_processes, FIELD_INT),
      U("total_processes", total_processes, FIELD_INT), U("max_threads", max_threads, FIELD_INT),
      U("voluntary_ctxt_switches", voluntary_switches, FIELD_INT),
      U("involuntary_ctxt_switches", involuntary_switches, FIELD_INT),
      U("minor_faults", minor_faults, FIELD_INT), U("major_faults", major_faults, FIELD_INT));

#define RU(field, member, kind)                                    \
	{                                                          \
		field, offsetof(struct rusage_facts, member), kind \
	}
TABLE(rusage_fields, RU("maxrss_bytes", maxrss_bytes, FIELD_INT),
      RU("cpu_user_seconds", cpu_user_ns, FIELD_NS),
      RU("cpu_system_seconds", cpu_system_ns, FIELD_NS));

#define A(field, kind)                                        \
	{                                                     \
#field, offsetof(struct at_peak, field), kind \
	}
TABLE(at_peak_fields, A(pid, FIELD_PID), A(comm, FIELD_COMM), A(rss_bytes, FIELD_INT));

#define G(field, member, kind)                              \
	{                                                   \
		field, offsetof(struct group, member), kind \
	}
TABLE(group_fields, G("comm", comm, FIELD_COMM), G("processes", processes, FIELD_INT),
      G("cpu_seconds", cpu_ns, FIELD_NS), G("peak_rss_bytes", peak_rss_bytes, FIELD_INT));

#define ST(field, member, kind)                               \
	{                                                     \
		field, offsetof(struct stretch, member), kind \
	}
TABLE(stretch_usage_fields, ST("peak_rss_bytes", peak_rss_bytes, FIELD_INT),
      ST("cpu_seconds", used.cpu_ns, FIELD_NS), ST("peak_cpus", peak_cpus, FIELD_DOUBLE));
TABLE(stretch_peak_fields, ST("peak_rss_sum_bytes", peak_sum_bytes, FIELD_INT),
      ST("peak_source", sum_source, FIELD_SOURCE));
TABLE(stretch_counter_fields, ST("cpu_user_seconds", used.cpu_user_ns, FIELD_NS),
      ST("cpu_system_seconds", used.cpu_system_ns, FIELD_NS),
      ST("voluntary_ctxt_switches", used.voluntary_switches, FIELD_INT),
      ST("involuntary_ctxt_switches", used.involuntary_switches, FIELD_INT),
      ST("minor_faults", used.minor_faults, FIELD_INT),
      ST("major_faults", used.major_faults, FIELD_INT), ST("max_threads", max_threads, FIELD_INT));

#define E(field, member, kind)                            \
	{                                                 \
		field, offsetof(struct env, member), kind \
	}
TABLE(env_head_fields, E("source", source, FIELD_STRING), E("host", host, FIELD_STRING),
      E("kernel", kernel, FIELD_STRING), E("machine", machine, FIELD_STRING),
      E("governor", governor, FIELD_STRING));
TABLE(env_middle_fields, E("steal_seconds", steal_ns, FIELD_NS),
      E("work_fs_type", work_fs_type, FIELD_STRING), E("sched_class", sched_class, FIELD_STRING),
      E("sched_priority", sched_priority, FIELD_INT), E("cpus", cpus, FIELD_INT),
      E("affinity_cpus", affinity_cpus, FIELD_INT), E("cpu_model", cpu_model, FIELD_STRING),
      E("memory_bytes", memory_bytes, FIELD_INT), E("page_size", page_size, FIELD_INT),
      E("clock_ticks", clock_ticks, FIELD_INT));
TABLE(env_thp_fields, E("thp", thp, FIELD_STRING));
TABLE(env_tail_fields, E("container", container, FIELD_STRING),
      E("boot_id", boot_id, FIELD_STRING));

#define CG(field, kind)                                            \
	{                                                          \
#field, offsetof(struct cgroup_facts, field), kind \
	}
TABLE(env_cgroup_fields, CG(version, FIELD_INT), CG(cpu_limit, FIELD_DOUBLE),
      CG(memory_limit_bytes, FIELD_INT));

#define PSI(field, member)                                    \
	{                                                     \
		field, offsetof(struct psi, member), FIELD_NS \
	}
TABLE(psi_fields, PSI("some_seconds", some_ns), PSI("full_seconds", full_ns));

#define LO(field, member, kind)                                \
	{                                                      \
		field, offsetof(struct left_out, member), kind \
	}
TABLE(left_out_fields, LO("from", from_ns, FIELD_TIME), LO("processes", processes, FIELD_INT),
      LO("failed", failed, FIELD_INT), LO("samples", samples, FIELD_INT));

#define D(field, kind)                                     \
	{                                                  \
#field, offsetof(struct disk, field), kind \
	}
TABLE(disk_fields, D(path, FIELD_STRING), D(apparent_bytes, FIELD_INT),
      D(allocated_bytes, FIELD_INT));

#define HL(field, member, kind)                                 \
	{                                                       \
		field, offsetof(struct host_load, member), kind \
	}
TABLE(host_load_fields, HL("verdict", verdict, FIELD_HOST),
      HL("foreign_cores", foreign_cores, FIELD_SIGNED),
      HL("threshold_cores", threshold_cores, FIELD_SIGNED), HL("span_seconds", span_ns, FIELD_NS),
      HL("window_seconds", window_ns, FIELD_NS), HL("busy_seconds", busy_ns, FIELD_NS),
      HL("own_seconds", own_ns, FIELD_NS), HL("steal_seconds", steal_ns, FIELD_NS),
      HL("reason", reason, FIELD_STRING));

#define LW(field, member, kind)                                   \
	{                                                         \
		field, offsetof(struct load_window, member), kind \
	}
TABLE(load_window_fields, LW("at", at_ns, FIELD_TIME), LW("seconds", span_ns, FIELD_NS),
      LW("foreign_cores", foreign_cores, FIELD_SIGNED), LW("verdict", verdict, FIELD_HOST));

#define LS(field, member, kind)                                   \
	{                                                         \
		field, offsetof(struct load_sample, member), kind \
	}
TABLE(load_sample_fields, LS("at", at_ns, FIELD_TIME), LS("busy_seconds", busy_ns, FIELD_NS),
      LS("own_seconds", own_ns, FIELD_NS), LS("steal_seconds", steal_ns, FIELD_NS),
      LS("foreign_cores", foreign_cores, FIELD_SIGNED));

#define BU(field, item, kind)                                              \
	{                                                                  \
		field, offsetof(struct budget, limit[BUDGET_##item]), kind \
	}
TABLE(budget_fields, BU("peak_rss_bytes", PEAK_RSS, FIELD_INT), BU("cpu_seconds", CPU, FIELD_NS),
      BU("wall_seconds", WALL, FIELD_NS), BU("processes", PROCESSES, FIELD_INT));

#define BE(field, member, kind)                                     \
	{                                                           \
		field, offsetof(struct budget_excess, member), kind \
	}
TABLE(budget_excess_fields, BE("at", at_ns, FIELD_TIME), BE("pid", pid, FIELD_PID));

#define EN(field, member, kind)                              \
	{                                                    \
		field, offsetof(struct energy, member), kind \
	}
TABLE(energy_fields, EN("source", source, FIELD_STRING), EN("domain", domain, FIELD_STRING),
      EN("covers", covers, FIELD_STRING), EN("start_uj", start_uj, FIELD_INT),
      EN("end_uj", end_uj, FIELD_INT), EN("delta_uj", delta_uj, FIELD_INT),
      EN("wraps", wraps, FIELD_INT), EN("quality", quality, FIELD_STRING),
      EN("status", status, FIELD_STRING), EN("reason", reason, FIELD_STRING));
