/**
 * Replays pending DELs. Removes a file only when its DEL is done. Renames a file that cannot be
 * parsed to `<name>.broken`, for an operator. Removes a file for another socket after a day without
 * an agent: a tenant's configuration may have named that socket.
 */
import { existsSync } from 'node:fs';
import { opendir, rename, rm, stat } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import * as z from 'zod';
import { pause } from '../../../lib/process/abortable.ts';
import type { Logger } from '../../../lib/process/log.ts';
import { type CniRequest, readCniRequest } from '../daemon/plugin-request.ts';
import { isSystemError, readTrustedFile } from '../../../lib/process/trusted-file.ts';

const everyMs = 15_000;
const maxFilesPerPass = 10_000;
const maxLoggedSockets = 8;
/** The limit of names that are read. The plugin writes at most 10,000 files. */
const maxNames = 50_000;
const maxFileBytes = 64 << 10;
const unclaimedMs = 24 * 3_600_000;

const fileSchema = z.object({ server_socket: z.string(), request: z.unknown() });

export interface ReplayOptions {
  readonly folder: string;
  /** The sockets of this agent. Other agents on the machine may share the folder. */
  readonly sockets: readonly string[];
  /** Runs a DEL after the earlier requests of its container, if `isPending` is still true then. */
  readonly del: (request: CniRequest, isPending: () => boolean, signal: AbortSignal) => Promise<unknown>;
  readonly log: Logger;
}

/** Runs a pass now and every 15 s. A DEL that fails stays for the next pass. */
export async function replayPendingDelsForever(options: ReplayOptions, signal: AbortSignal): Promise<void> {
  const replay = createPendingDelReplay(options);
  while (!signal.aborted) {
    await replay(signal);
    await pause(everyMs, signal);
  }
}

/**
 * Makes the function of one pass, which resolves to the number of completed DELs. A pass begins
 * after the last file of the pass before, so that files that fail or belong to other agents do not
 * delay the rest.
 * @param maxFiles how many files one pass reads
 */
export function createPendingDelReplay(
  options: ReplayOptions,
  maxFiles = maxFilesPerPass,
): (signal: AbortSignal) => Promise<number> {
  const { folder, log } = options;
  let last = '';
  let unclaimed = 0;

  return async (signal) => {
    const names = await listFiles(options);
    const next = names.findIndex((name) => name > last);
    const ordered = next > 0 ? [...names.slice(next), ...names.slice(0, next)] : names;
    const others: string[] = [];
    const removed: string[] = [];
    let done = 0;
    for (const name of ordered.slice(0, maxFiles)) {
      if (signal.aborted) return done;
      last = name;
      const outcome = await replayOne(options, join(folder, name), signal);
      if (outcome.kind === 'done') done += 1;
      if (outcome.kind !== 'unclaimed') continue;
      if (await removeIfExpired(options, join(folder, name))) removed.push(outcome.socket);
      else others.push(outcome.socket);
    }
    if (done > 0) log.info({ done, folder }, 'did pending DELs');
    if (removed.length > 0)
      log.warn(
        { removed: removed.length, sockets: [...new Set(removed)].slice(0, maxLoggedSockets), folder },
        'removed pending DELs of more than 24 hours, because no agent serves their sockets: correct server_socket in the network configuration',
      );
    if (others.length > 0 && others.length !== unclaimed)
      log.warn(
        { unclaimed: others.length, sockets: [...new Set(others)].slice(0, maxLoggedSockets), folder },
        'pending DELs are for sockets that this agent does not serve: if no other agent serves them, correct server_socket in the network configuration and in these files',
      );
    unclaimed = others.length;
    return done;
  };
}

/** Removes a file that is older than a day; resolves to whether it was removed. */
async function removeIfExpired({ log }: ReplayOptions, path: string): Promise<boolean> {
  try {
    const { mtimeMs } = await stat(path);
    if (Date.now() - mtimeMs < unclaimedMs) return false;
    await rm(path, { force: true });
    return true;
  } catch (error) {
    if (!isAbsent(error))
      log.warn({ err: error, file: path }, 'removing an expired pending DEL failed; the agent retries');
    return false;
  }
}

async function listFiles({ folder, log }: ReplayOptions): Promise<string[]> {
  const names: string[] = [];
  try {
    for await (const entry of await opendir(folder)) {
      if (entry.isFile() && entry.name.endsWith('.json')) names.push(entry.name);
      if (names.length >= maxNames) break;
    }
  } catch (error) {
    // Ignores an absent folder: there are no pending DELs.
    if (!isAbsent(error))
      log.warn({ err: error, folder }, 'the folder of pending DELs cannot be read; the agent retries');
  }
  return names.toSorted();
}

const isAbsent = (error: unknown): boolean => (error as NodeJS.ErrnoException).code === 'ENOENT';

export type PendingDel =
  | { readonly kind: 'ours'; readonly request: CniRequest }
  | { readonly kind: 'unclaimed'; readonly socket: string }
  | { readonly kind: 'broken'; readonly error: unknown };

type ReplayOutcome = { readonly kind: 'done' | 'not done' } | Extract<PendingDel, { kind: 'unclaimed' }>;

async function replayOne(options: ReplayOptions, path: string, signal: AbortSignal): Promise<ReplayOutcome> {
  const { del, log } = options;
  try {
    const pending = await readPendingDel(options, path);
    if (pending.kind === 'unclaimed') return pending;
    if (pending.kind === 'broken') {
      await rename(path, `${path}.broken`);
      log.warn({ err: pending.error, file: path }, 'a pending DEL cannot be parsed; renamed to .broken');
      return { kind: 'not done' };
    }
    await del(pending.request, () => existsSync(path), signal);
    await rm(path, { force: true });
    return { kind: 'done' };
  } catch (error) {
    // Ignores an absent file: another agent of the same socket has done its DEL.
    if (!isAbsent(error)) log.warn({ err: error, file: path }, 'a pending DEL failed; the agent retries');
    return { kind: 'not done' };
  }
}

async function readPendingDel({ sockets }: ReplayOptions, path: string): Promise<PendingDel> {
  try {
    return parsePendingDel(await readTrustedFile(path, maxFileBytes), sockets);
  } catch (error) {
    if (isSystemError(error)) throw error;
    return { kind: 'broken', error };
  }
}

/**
 * Parses a file. Checks its socket before its request: the request of another agent may have
 * another format.
 * @throws Error for a text that is not a pending DEL
 */
export function parsePendingDel(text: string, sockets: readonly string[]): PendingDel {
  const { server_socket: socket, request } = fileSchema.parse(JSON.parse(text));
  if (!sockets.some((ours) => resolve(ours) === resolve(socket))) return { kind: 'unclaimed', socket };
  return { kind: 'ours', request: readCniRequest('del', request) };
}
