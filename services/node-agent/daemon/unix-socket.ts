/**
 * Publishes a unix socket at a path that another process may use. The server binds a temporary
 * path; the socket gets mode 0600 there and is then renamed to its path. So no caller connects to
 * an unprotected socket. And Node, which unlinks the path that it bound, does not unlink the socket
 * of a later process. An existing file is replaced only if it is a socket without a server.
 */
import { randomBytes } from 'node:crypto';
import { chmodSync, lstatSync, mkdirSync, renameSync, type Stats, statSync, unlinkSync } from 'node:fs';
import { connect, type Server } from 'node:net';
import { dirname, join } from 'node:path';

/** The number of connections that may wait for accept: those of all Pods of a starting node. */
const backlog = 4_096;

/** A server's socket at its path. */
export interface PublishedSocket {
  /** Whether the path still leads to this server. */
  isOurs(): boolean;
  /** Removes the socket's file if it leads to this server. The server keeps its connections. */
  unpublish(): void;
}

/**
 * Makes `server` listen at `path`. Makes the folder, with mode 0700, if it is absent.
 * @throws Error when another process serves the path, or the file is not a socket; or the system's
 * error
 */
export async function publishSocket(server: Server, path: string): Promise<PublishedSocket> {
  const folder = dirname(path);
  mkdirSync(folder, { recursive: true, mode: 0o700 });
  await rejectOccupiedPath(path);
  const draft = join(folder, `.new-${randomBytes(4).toString('hex')}`);
  await listen(server, draft);
  chmodSync(draft, 0o600);
  const own = statSync(draft);
  renameSync(draft, path);
  const isOurs = (): boolean => {
    const current = statIfPresent(path);
    return current?.ino === own.ino && current.dev === own.dev;
  };
  const unpublish = (): void => {
    if (isOurs()) unlinkSync(path);
  };
  return { isOurs, unpublish };
}

async function rejectOccupiedPath(path: string): Promise<void> {
  const existing = statIfPresent(path);
  if (!existing) return;
  if (!existing.isSocket())
    throw new Error(`${path} is not a socket, and is not replaced: remove the file, or choose another --socket`);
  if (await isServed(path))
    throw new Error(`${path} is served by another process: stop that process, or choose another --socket`);
}

function statIfPresent(path: string): Stats | undefined {
  return lstatSync(path, { throwIfNoEntry: false });
}

/** Whether a server may listen: only a refused connection proves that none does. */
function isServed(path: string): Promise<boolean> {
  return new Promise((resolve) => {
    const probe = connect(path);
    probe.once('connect', () => {
      probe.destroy();
      resolve(true);
    });
    probe.once('error', (error: NodeJS.ErrnoException) =>
      resolve(error.code !== 'ECONNREFUSED' && error.code !== 'ENOENT'),
    );
  });
}

function listen(server: Server, path: string): Promise<void> {
  return new Promise((resolve, reject) => {
    server.once('error', reject);
    server.listen({ path, backlog }, () => {
      server.off('error', reject);
      resolve();
    });
  });
}
