/** Makes the data path of a node from its parts. */
import type { Logger } from '../../../lib/process/log.ts';
import type { KeyedMutex } from '../concurrency/keyed-mutex.ts';
import type { ObjectReader } from '../kubernetes/object-reader.ts';
import type { OvsDatabase } from '../ovs/ovs-database.ts';
import { DataPath } from './data-path.ts';
import type { DataPathMetrics } from './data-path-metrics.ts';
import { readAddressMtu } from './nic-mtu.ts';
import { createPodLinks } from './pod-links.ts';
import { sweepPorts, sweepPortsForever } from './port-sweep.ts';
import { readSouthbound } from './southbound.ts';

export interface DataPathOptions {
  readonly ovs: OvsDatabase;
  /** Name of the integration bridge; flag `--ovs-bridge`. */
  readonly bridge: string;
  readonly node: string;
  /** The node's /proc/sys/net; flag `--sysctls`. */
  readonly sysctls: string;
  readonly read: ObjectReader;
  readonly metrics: DataPathMetrics;
  readonly runExclusive: KeyedMutex;
  readonly log: Logger;
}

export interface OpenDataPath {
  readonly dataPath: DataPath;
  /** Removes the ports of deleted containers once. @throws IpledgerError or OvsdbError when one cannot be removed now */
  sweep(signal: AbortSignal): Promise<unknown>;
  /** Removes the ports of deleted containers, until the signal is aborted. */
  sweepForever(signal: AbortSignal): Promise<void>;
}

export function openDataPath(options: DataPathOptions): OpenDataPath {
  const { ovs, sysctls, runExclusive, log } = options;
  const dataPath = new DataPath({
    ...options,
    links: createPodLinks(sysctls),
    mtuOf: readAddressMtu,
    readSouthbound,
  });
  const sweep = { ovs, dataPath, runExclusive, log };
  return {
    dataPath,
    sweep: (signal) => sweepPorts(sweep, signal),
    sweepForever: (signal) => sweepPortsForever(sweep, signal),
  };
}
