/**
 * Finds the programs and schemas of OVS and OVN that `sh test/harness/prerequisites ovn` unpacks,
 * and runs them.
 */
import { existsSync, globSync } from 'node:fs';
import { dirname, join } from 'node:path';
import type { Capability } from '../network/network-namespaces.ts';
import { cacheFolder } from '../paths.ts';
import { mustRun } from '../processes/command.ts';
import { childEnvironment, type Launch } from '../processes/launch.ts';

const folder = join(cacheFolder, 'ovn');

const programs = {
  ethtool: 'sbin/ethtool',
  'ovn-appctl': 'usr/bin/ovn-appctl',
  'ovn-controller': 'usr/bin/ovn-controller',
  'ovn-nbctl': 'usr/bin/ovn-nbctl',
  'ovn-northd': 'usr/bin/ovn-northd',
  'ovn-sbctl': 'usr/bin/ovn-sbctl',
  'ovn-trace': 'usr/bin/ovn-trace',
  'ovs-appctl': 'usr/bin/ovs-appctl',
  'ovs-vsctl': 'usr/bin/ovs-vsctl',
  'ovs-vswitchd': 'usr/lib/openvswitch-switch/ovs-vswitchd',
  'ovsdb-client': 'usr/bin/ovsdb-client',
  'ovsdb-server': 'usr/sbin/ovsdb-server',
  'ovsdb-tool': 'usr/bin/ovsdb-tool',
} as const;

const schemas = {
  northbound: 'usr/share/ovn/ovn-nb.ovsschema',
  southbound: 'usr/share/ovn/ovn-sb.ovsschema',
  vswitch: 'usr/share/openvswitch/vswitch.ovsschema',
} as const;

export type OvnProgram = keyof typeof programs;
export type OvnSchema = keyof typeof schemas;

/** Whether OVS and OVN are unpacked, or the reason why not. */
export function probeOvn(): Capability {
  if (existsSync(join(folder, 'complete'))) return { isAvailable: true };
  return { isAvailable: false, reason: 'OVS and OVN are missing: run `sh test/harness/prerequisites ovn`' };
}

/** The path of a program. */
export const ovnProgram = (name: OvnProgram): string => join(folder, programs[name]);

/** Returns `PATH` with the folder of ethtool, with which the agent turns off checksum offload. */
export const pathWithEthtool = (): string => `${dirname(ovnProgram('ethtool'))}:${process.env['PATH'] ?? ''}`;

/** The path of a schema file. */
export const ovnSchema = (name: OvnSchema): string => join(folder, schemas[name]);

/**
 * Returns the environment of a program.
 * @param runFolder folder of its sockets and pid files, instead of /var/run/openvswitch and
 * /var/run/ovn
 */
export function ovnEnvironment(runFolder: string): Record<string, string> {
  return {
    LD_LIBRARY_PATH: globSync(join(folder, 'usr/lib/*-linux-gnu')).join(':'),
    OVS_RUNDIR: runFolder,
    OVN_RUNDIR: runFolder,
    OVS_LOGDIR: runFolder,
    OVN_LOGDIR: runFolder,
    OVS_DBDIR: runFolder,
    OVN_DBDIR: runFolder,
  };
}

/** Runs a program that must succeed. Returns its stdout. */
export function runOvn(runFolder: string, name: OvnProgram, args: readonly string[]): Promise<string> {
  return mustRun(ovnProgram(name), args, { env: childEnvironment(ovnEnvironment(runFolder)) });
}

export interface DaemonSettings {
  readonly name: string;
  readonly program: OvnProgram;
  readonly args: readonly string[];
  readonly runFolder: string;
  /** The path of the daemon's network namespace. Default: that of the machine. */
  readonly namespace?: string | undefined;
  readonly ready: Launch['ready'];
}

/** The launch of a daemon, in the foreground and with its log on stderr. */
export function ovnLaunch({ name, program, args, runFolder, namespace, ready }: DaemonSettings): Launch {
  const command = [ovnProgram(program), ...args, '--no-chdir'];
  const inside = namespace === undefined ? command : ['nsenter', `--net=${namespace}`, ...command];
  const [first = '', ...rest] = inside;
  return { name, program: first, args: rest, env: ovnEnvironment(runFolder), ready, readyWithinMs: 60_000 };
}
