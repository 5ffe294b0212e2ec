/**
 * DELs that could not be done, because a Pod must be able to go: each is left as a file `<container>@<interface>.json`, by the
 * plugin when it finds no agent, by the agent when it finds no allocator. The agent of that socket does them when it can. A
 * file goes only when its DEL is done.
 */
import { mkdir, readdir, readFile, rename, unlink, writeFile } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { z } from 'zod';
import { pause } from '../../lib/deadline.ts';
import type { Logger } from '../../lib/log.ts';
import { type CniRequest, parseRequest } from './wire.ts';

const everyMs = 15_000;
const mostAtOnce = 1_000;

const entrySchema = z.object({ server_socket: z.string(), request: z.unknown() });

export interface Journal {
  readonly folder: string;
  /** Whose entries are done here; other agents on this machine may share the folder. */
  readonly sockets: readonly string[];
  readonly del: (request: CniRequest, signal: AbortSignal) => Promise<unknown>;
  readonly log: Logger;
}

/**
 * Leaves a DEL to be done later. A repeated one replaces its own file.
 * @param socket one of the agent's own, by which it knows the file again.
 * @throws the system's error
 */
export async function leave(folder: string, socket: string, request: CniRequest): Promise<void> {
  const { cniType, podName, podNamespace, containerId, netns, interface: name, provider } = request;
  if (/[/\0]|^\.\.?$/.test(containerId + name))
    throw new Error(`container ${containerId} ${name}: no file can be named so`);
  const wire = {
    cni_type: cniType,
    pod_name: podName,
    pod_namespace: podNamespace,
    container_id: containerId,
    net_ns: netns,
    if_name: name,
    provider,
  };
  const path = join(folder, `${containerId}@${name}.json`);
  const draft = `${path}.${process.pid}`;
  await mkdir(folder, { recursive: true, mode: 0o700 });
  await writeFile(draft, JSON.stringify({ server_socket: socket, request: wire }), { mode: 0o600 });
  await rename(draft, path);
}

/** Does what is left there, now and every few seconds, until the signal is aborted. What fails is tried again. */
export async function replayForever(journal: Journal, signal: AbortSignal): Promise<void> {
  while (!signal.aborted) {
    await replay(journal, signal);
    await pause(everyMs, signal);
  }
}

/** Does what is left there once; resolves to how many DELs were done. */
export async function replay(journal: Journal, signal: AbortSignal): Promise<number> {
  const { folder, log } = journal;
  const files = await readdir(folder).catch(() => []); // no folder: no plugin ever left anything
  const entries = files
    .filter((name) => name.endsWith('.json'))
    .toSorted()
    .slice(0, mostAtOnce);
  let done = 0;
  for (const name of entries) {
    if (signal.aborted) break;
    try {
      if (await replayOne(journal, join(folder, name), signal)) done += 1;
    } catch (error) {
      log.warn({ err: error, file: join(folder, name) }, 'a DEL that was left here could not be done yet');
    }
  }
  if (done > 0) log.info({ done, folder }, 'did the DELs that had been left');
  return done;
}

async function replayOne({ sockets, del }: Journal, path: string, signal: AbortSignal): Promise<boolean> {
  const { server_socket: socket, request } = entrySchema.parse(JSON.parse(await readFile(path, 'utf8')));
  if (!sockets.some((ours) => resolve(ours) === resolve(socket))) return false;
  await del(parseRequest('del', JSON.stringify(request)), signal);
  await unlink(path);
  return true;
}
