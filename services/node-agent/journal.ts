/**
 * DELs that could not be done, because a Pod must be able to go: each is left as a file `<container>@<interface>.json`, by the
 * plugin when it finds no agent, by the agent when it finds no allocator. The agent of that socket does them when it can. A
 * file goes only when its DEL is done; one that can't be understood is put aside as `<name>.broken`, for a person. One that no
 * agent did for a day, since its socket is none of this agent's, is removed: a tenant's configuration named it.
 */
import { existsSync } from 'node:fs';
import { mkdir, opendir, rename, rm, stat, writeFile } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { z } from 'zod';
import { pause } from '../../lib/deadline.ts';
import type { Logger } from '../../lib/log.ts';
import type { Attached } from './asked.ts';
import { isSystemError, readOwnFile } from './own-file.ts';
import { type CniRequest, parseRequest } from './wire.ts';

const everyMs = 15_000;
const mostAtOnce = 10_000;
const mostNamed = 8;
/** More names are not read: the plugin leaves no more than 10,000 files. */
const mostNames = 50_000;
const mostEntryBytes = 64 << 10;
const unclaimedMs = 24 * 3_600_000;

const entrySchema = z.object({ server_socket: z.string(), request: z.unknown() });

export interface Journal {
  readonly folder: string;
  /** Whose entries are done here; other agents on this machine may share the folder. */
  readonly sockets: readonly string[];
  /** Does a DEL when its turn comes, if it is left still by then. */
  readonly del: (request: CniRequest, isLeft: () => boolean, signal: AbortSignal) => Promise<unknown>;
  readonly log: Logger;
}

const fileOf = ({ containerId, interface: name }: Attached): string => `${containerId}@${name}.json`;

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
  const path = join(folder, fileOf(request));
  const draft = `${path}.${process.pid}`;
  await mkdir(folder, { recursive: true, mode: 0o700 });
  await writeFile(draft, JSON.stringify({ server_socket: socket, request: wire }), { mode: 0o600 });
  await rename(draft, path);
}

/** Whether a DEL of the container is left. */
export const isLeft = (folder: string, container: Attached): boolean => existsSync(join(folder, fileOf(container)));

/** The container has the address (again): a DEL that was left from before must not end that. */
export async function forget(folder: string, request: CniRequest): Promise<void> {
  await rm(join(folder, fileOf(request)), { force: true });
}

/** Does what is left there, now and every few seconds, until the signal is aborted. What fails is tried again. */
export async function replayForever(journal: Journal, signal: AbortSignal): Promise<void> {
  const replay = createReplay(journal);
  while (!signal.aborted) {
    await replay(signal);
    await pause(everyMs, signal);
  }
}

/**
 * Makes the function that does once what is left there, and resolves to how many DELs were done. Each pass goes on behind
 * the file where the one before stopped, so that no number of others' files, or of such as fail, keeps one from its turn.
 * @param most how many files one pass reads
 */
export function createReplay(journal: Journal, most = mostAtOnce): (signal: AbortSignal) => Promise<number> {
  const { folder, log } = journal;
  let last = '';
  let unclaimed = 0;

  return async (signal) => {
    const names = await entriesOf(journal);
    const next = names.findIndex((name) => name > last);
    const inTurn = next > 0 ? [...names.slice(next), ...names.slice(0, next)] : names;
    const others: string[] = [];
    const removed: string[] = [];
    let done = 0;
    for (const name of inTurn.slice(0, most)) {
      if (signal.aborted) return done;
      last = name;
      const replayed = await replayOne(journal, join(folder, name), signal);
      if (replayed.kind === 'done') done += 1;
      if (replayed.kind !== 'unclaimed') continue;
      if (await removeOld(journal, join(folder, name))) removed.push(replayed.socket);
      else others.push(replayed.socket);
    }
    if (done > 0) log.info({ done, folder }, 'did the DELs that had been left');
    if (removed.length > 0)
      log.warn(
        { removed: removed.length, sockets: [...new Set(removed)].slice(0, mostNamed), folder },
        'removed DELs that no agent did for 24 hours, since their sockets are not served here: correct server_socket in the network configuration',
      );
    if (others.length > 0 && others.length !== unclaimed)
      log.warn(
        { unclaimed: others.length, sockets: [...new Set(others)].slice(0, mostNamed), folder },
        'DELs are left for sockets that are not served here: if no other agent serves them, correct server_socket in the network configuration, and in these files',
      );
    unclaimed = others.length;
    return done;
  };
}

/** Removes a file that is older than a day; returns whether it did. */
async function removeOld({ log }: Journal, path: string): Promise<boolean> {
  try {
    const { mtimeMs } = await stat(path);
    if (Date.now() - mtimeMs < unclaimedMs) return false;
    await rm(path, { force: true });
    return true;
  } catch (error) {
    if (!isAbsent(error)) log.warn({ err: error, file: path }, 'a DEL that no agent does cannot be removed');
    return false;
  }
}

async function entriesOf({ folder, log }: Journal): Promise<string[]> {
  const names: string[] = [];
  try {
    for await (const entry of await opendir(folder)) {
      if (entry.isFile() && entry.name.endsWith('.json')) names.push(entry.name);
      if (names.length >= mostNames) break;
    }
  } catch (error) {
    // No folder: no plugin ever left anything.
    if (!isAbsent(error)) log.warn({ err: error, folder }, 'DELs may be left here that cannot be read');
  }
  return names.toSorted();
}

const isAbsent = (error: unknown): boolean => (error as NodeJS.ErrnoException).code === 'ENOENT';

type Left =
  | { readonly kind: 'ours'; readonly request: CniRequest }
  | { readonly kind: 'unclaimed'; readonly socket: string }
  | { readonly kind: 'broken'; readonly error: unknown };

type Replayed = { readonly kind: 'done' | 'not done' } | Extract<Left, { kind: 'unclaimed' }>;

async function replayOne(journal: Journal, path: string, signal: AbortSignal): Promise<Replayed> {
  const { del, log } = journal;
  try {
    const left = await understand(journal, path);
    if (left.kind === 'unclaimed') return left;
    if (left.kind === 'broken') {
      await rename(path, `${path}.broken`);
      log.warn({ err: left.error, file: path }, 'a DEL that was left here cannot be understood; put aside as .broken');
      return { kind: 'not done' };
    }
    await del(left.request, () => existsSync(path), signal);
    await rm(path, { force: true });
    return { kind: 'done' };
  } catch (error) {
    // A file that is gone was done by another agent of the same socket, which is starting or ending.
    if (!isAbsent(error)) log.warn({ err: error, file: path }, 'a DEL that was left here could not be done yet');
    return { kind: 'not done' };
  }
}

/** Whose it is comes first: what others' requests look like is not known here. */
async function understand({ sockets }: Journal, path: string): Promise<Left> {
  try {
    const text = await readOwnFile(path, mostEntryBytes);
    const { server_socket: socket, request } = entrySchema.parse(JSON.parse(text));
    if (!sockets.some((ours) => resolve(ours) === resolve(socket))) return { kind: 'unclaimed', socket };
    return { kind: 'ours', request: parseRequest('del', JSON.stringify(request)) };
  } catch (error) {
    if (isSystemError(error)) throw error;
    return { kind: 'broken', error };
  }
}
