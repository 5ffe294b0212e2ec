/**
 * Removes the ports of deleted containers, at each connection to the Open vSwitch database. Such
 * ports remain when the agent is killed during an ADD, when the database is down at a DEL, and
 * after a reboot of the node: links end with a boot, rows do not.
 */
import { existsSync } from 'node:fs';
import { dirname } from 'node:path';
import { textMap, textSet } from '../../../lib/ovsdb/values.ts';
import { vendor } from '../../../lib/ovn/names.ts';
import type { Operation } from '../../../lib/ovsdb/transaction.ts';
import { pause } from '../../../lib/process/abortable.ts';
import type { Logger } from '../../../lib/process/log.ts';
import { interfaceKey } from '../bindings/binding-files.ts';
import type { KeyedMutex } from '../concurrency/keyed-mutex.ts';
import type { OvsDatabase } from '../ovs/ovs-database.ts';
import type { DataPath } from './data-path.ts';
import { readLinkNames } from './host-link.ts';
import { type OwnedPort, ownedPorts } from './ovs-port.ts';

const retryMs = 5_000;

export interface PortSweepDeps {
  readonly ovs: OvsDatabase;
  readonly dataPath: DataPath;
  readonly runExclusive: KeyedMutex;
  readonly log: Logger;
}

/** Sweeps after each connection until the signal is aborted. Repeats a failed sweep. */
export async function sweepPortsForever(deps: PortSweepDeps, signal: AbortSignal): Promise<void> {
  const { ovs, log } = deps;
  const isSeen = (isConnected: boolean) => ovs.when(() => ovs.isConnected === isConnected || undefined, signal);
  try {
    while (!signal.aborted) {
      await isSeen(true);
      const isSwept = await sweepPorts(deps, signal).catch((error: unknown) => {
        if (!signal.aborted)
          log.warn({ err: error }, 'removing the OVS ports of deleted containers failed; the agent retries');
        return false;
      });
      if (isSwept) await isSeen(false);
      else await pause(retryMs, signal);
    }
  } catch (error) {
    if (!signal.aborted) throw error;
  }
}

/** @throws IpledgerError or OvsdbError when a port cannot be removed now */
export async function sweepPorts(
  { ovs, dataPath, runExclusive, log }: PortSweepDeps,
  signal: AbortSignal,
): Promise<true> {
  const links = await readLinkNames();
  const stale = ownedPorts(ovs).filter((port) => isStale(port, links));
  for (const port of stale)
    await runExclusive(interfaceKey(port), signal, async () => {
      // Checks again: an ADD of the container may have made the link in the meantime.
      if (isStale(port, await readLinkNames())) await dataPath.detach(port, signal);
    });
  const operations = orphanOperations(ovs);
  if (operations.length > 0) await ovs.transact(operations);
  if (stale.length > 0) log.info({ removed: stale.length }, 'removed the OVS ports of deleted containers');
  return true;
}

/**
 * Whether the container of a port is deleted, judged by its link, which lives as long as the
 * sandbox, and by the path of its sandbox.
 * @param exists whether a path exists
 */
export function isStale(
  { name, netns }: Pick<OwnedPort, 'name' | 'netns'>,
  links: ReadonlySet<string>,
  exists: (path: string) => boolean = existsSync,
): boolean {
  // Requires the folder: if it is absent, it may not be mounted in this container.
  const isDeleted = netns !== '' && !exists(netns) && exists(dirname(netns));
  return !links.has(name) || isDeleted;
}

/** Returns the operations that delete ipledger's QoS and Queue rows to which no row refers. */
function orphanOperations(ovs: Pick<OvsDatabase, 'rows'>): Operation[] {
  const used = new Set([...ovs.rows('Port').values()].flatMap(({ qos }) => [...textSet(qos)]));
  for (const [uuid, { queues, external_ids }] of ovs.rows('QoS'))
    if (queues instanceof Map && (used.has(uuid) || textMap(external_ids).get('vendor') !== vendor))
      for (const queue of queues.values()) used.add(String(queue));
  return (['QoS', 'Queue'] as const).flatMap((table) =>
    [...ovs.rows(table)]
      .filter(([uuid, row]) => !used.has(uuid) && textMap(row['external_ids']).get('vendor') === vendor)
      .map(([uuid]) => ({ op: 'delete', table, where: [['_uuid', '==', uuid]] }) as const),
  );
}
