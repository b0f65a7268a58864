/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What a container can reach on its host besides what the options speak of: privileges, devices,
 * mounts, the host's namespaces. No create request of ours asks for any of it, so a container that
 * has it was made by somebody else, whatever labels it bears, or changed (`docker update`).
 *
 * Of all that a HostConfig can hold in API 1.40 to 1.52, refused is
 * - what gives: Privileged, CapAdd, Binds, Mounts, VolumesFrom, VolumeDriver, Tmpfs, Devices,
 *   DeviceRequests, DeviceCgroupRules, Links, GroupAdd, PidMode, IpcMode, UTSMode, UsernsMode,
 *   NetworkMode (of the host or of another container), PortBindings, PublishAllPorts, Sysctls,
 *   Annotations (runtimes take orders by them), CpuRealtimeRuntime, and the Ulimits nice and
 *   rtprio;
 * - what takes protection away: SecurityOpt, MaskedPaths, ReadonlyPaths, OomKillDisable, an
 *   OomScoreAdj below 0, and a CpuQuota below 0 where processors are limited;
 * - where the root file system is read-only, a volume that can be written;
 * - of a container that we made, what undoes a promise: RestartPolicy (it would come back by itself
 *   after a stop and after its deadline), AutoRemove (its files would go with a stop), and, with an
 *   agent, a LogConfig (its first client's stream would be written down).
 *
 * Left alone is what can only limit or weigh (CpuShares, CpuPeriod, CpuQuota, Cpuset*, CpuCount,
 * CpuPercent, Blkio*, IOMaximum*, KernelMemory*, MemoryReservation, MemorySwappiness, ShmSize,
 * StorageOpt, CapDrop, ReadonlyRootfs, OomScoreAdj above 0); names, which whoever owns the engine
 * can write into the files of a sandbox as well (Dns*, ExtraHosts); what an engine chooses where it
 * is not asked, and what cannot be told from that (Runtime, CgroupnsMode, CgroupParent, Cgroup,
 * Isolation, other words of NetworkMode); and what changes nothing (ConsoleSize, ContainerIDFile,
 * Init without an agent; of Config: StopSignal, OpenStdin, Tty).
 */
#ifndef COFFERDAM_SESSION_REACH_H
#define COFFERDAM_SESSION_REACH_H

#include <jansson.h>

#include "options/generated.h"

/* Compares an inspect answer with what a create request leaves out. What the options themselves
 * put into the request is left to their own comparison. CDAM_ERR_DRIFT, CDAM_ERR_NO_MEMORY. */
cdam_status cdam_check_reach(const Cofferdam__V1__SessionState *state, const json_t *inspect,
                             cdam_error *err);

#endif
