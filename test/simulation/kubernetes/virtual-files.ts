/**
 * Files in memory below one folder that no machine has, for the functions of `node:fs` that the
 * node agent calls. All other paths are the machine's.
 */
import fs from 'node:fs';
import promises from 'node:fs/promises';
import { syncBuiltinESMExports } from 'node:module';
import { basename, dirname } from 'node:path';
import { running } from '../kernel/program-clock.ts';

/** The folder; each node of a simulation has its own below it. */
export const virtualRoot = '/simulated-node-files';

interface Entry {
  /** undefined: a folder. */
  readonly text: string | undefined;
  readonly inode: bigint;
  readonly modifiedMs: number;
}

const entries = new Map<string, Entry>();
let lastInode = 0n;

/** A program that has ended writes nothing more. */
const mayWrite = (): boolean => {
  const program = running.getStore() as { readonly isAlive?: boolean } | undefined;
  return program?.isAlive !== false;
};

const isVirtual = (path: unknown): path is string => typeof path === 'string' && path.startsWith(virtualRoot);

function absent(path: string): NodeJS.ErrnoException {
  return Object.assign(new Error(`ENOENT: no such file or directory, ${path}`), { code: 'ENOENT', errno: -2, path });
}

function find(path: string): Entry {
  const entry = entries.get(path);
  if (!entry) throw absent(path);
  return entry;
}

function put(path: string, text: string | undefined): void {
  if (mayWrite()) entries.set(path, { text, inode: ++lastInode, modifiedMs: Date.now() });
}

/** Makes a folder and those above it. */
export function makeVirtualFolder(path: string): void {
  for (let folder = path; isVirtual(folder); folder = dirname(folder)) if (!entries.has(folder)) put(folder, undefined);
}

/** Writes a file, as a part of the node that is no program of the simulation. */
export function writeVirtualFile(path: string, text: string): void {
  makeVirtualFolder(dirname(path));
  entries.set(path, { text, inode: ++lastInode, modifiedMs: Date.now() });
}

/** Removes a file, or a folder with all that is in it. */
export function removeVirtual(path: string): void {
  for (const key of entries.keys()) if (key === path || key.startsWith(`${path}/`)) entries.delete(key);
}

/** The text of a file; undefined if it is absent. */
export const readVirtualFile = (path: string): string | undefined => entries.get(path)?.text;

/** The names of the files in a folder. */
export const namesOfVirtualFiles = (folder: string): string[] =>
  childrenOf(folder).flatMap((path) => (entries.get(path)?.text === undefined ? [] : basename(path)));

const childrenOf = (path: string): string[] => [...entries.keys()].filter((key) => dirname(key) === path).toSorted();

function statOf(path: string) {
  const { text, inode, modifiedMs } = find(path);
  const size = Buffer.byteLength(text ?? '');
  return {
    ino: inode,
    dev: 1n,
    nlink: 1n,
    uid: 0,
    size,
    birthtimeNs: inode,
    mtimeMs: modifiedMs,
    isFile: () => text !== undefined,
  };
}

/** What replaces the functions of `node:fs/promises`. Each completes in a later microtask. */
const virtualPromises = {
  async mkdir(path: string) {
    await Promise.resolve();
    makeVirtualFolder(path);
  },
  async opendir(path: string) {
    await Promise.resolve();
    find(path);
    const files = childrenOf(path).map((key) => ({
      name: basename(key),
      isFile: () => entries.get(key)?.text !== undefined,
    }));
    return files[Symbol.iterator]();
  },
  async rename(from: string, to: string) {
    await Promise.resolve();
    const entry = find(from);
    if (!mayWrite()) return;
    entries.delete(from);
    entries.set(to, entry);
  },
  async rm(path: string, { force = false } = {}) {
    await Promise.resolve();
    if (!force) find(path);
    if (mayWrite()) removeVirtual(path);
  },
  async writeFile(path: string, text: string, { flag = 'w' } = {}) {
    await Promise.resolve();
    find(dirname(path));
    if (flag === 'wx' && entries.has(path))
      throw Object.assign(new Error(`EEXIST: ${path}`), { code: 'EEXIST', errno: -17 });
    put(path, text);
  },
  async stat(path: string) {
    await Promise.resolve();
    return statOf(path);
  },
  async open(path: string) {
    await Promise.resolve();
    const bytes = Buffer.from(find(path).text ?? '');
    return {
      stat: () => Promise.resolve(statOf(path)),
      read: (buffer: Buffer) => Promise.resolve({ buffer, bytesRead: bytes.copy(buffer) }),
      close: () => Promise.resolve(),
    };
  },
};

const virtualSync = {
  existsSync: (path: string) => entries.has(path),
  statSync: (path: string, { throwIfNoEntry = true } = {}) =>
    throwIfNoEntry || entries.has(path) ? statOf(path) : undefined,
};

type Functions = Record<string, (...args: never[]) => unknown>;

/** Replaces the functions. Returns the removal of the replacements and of all files. */
export function installVirtualFiles(): () => void {
  const restore = [
    replace(promises as unknown as Functions, virtualPromises),
    replace(fs as unknown as Functions, virtualSync),
  ];
  syncBuiltinESMExports();
  return () => {
    for (const each of restore) each();
    syncBuiltinESMExports();
    entries.clear();
    lastInode = 0n;
  };
}

function replace(target: Functions, replacements: object): () => void {
  const before: Functions = {};
  for (const [name, virtual] of Object.entries(replacements) as [string, Functions[string]][]) {
    const real = (before[name] = target[name] as Functions[string]);
    target[name] = (...args) => (isVirtual(args[0]) ? virtual : real)(...args);
  }
  return () => void Object.assign(target, before);
}
