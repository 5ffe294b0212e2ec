/**
 * A unix socket at a path that may be somebody else's. It is bound under a name of its own, made 0600 there, and then renamed
 * to where callers look: so nobody meets it half made, and Node, which unlinks what it bound when it closes, never unlinks
 * a successor's socket at the same path. A file in the way is replaced only if it is a socket on which nobody answers.
 */
import { randomBytes } from 'node:crypto';
import { chmodSync, lstatSync, mkdirSync, renameSync, type Stats, statSync, unlinkSync } from 'node:fs';
import { connect, type Server } from 'node:net';
import { dirname, join } from 'node:path';

/** Callers that the kernel keeps while we are busy; as many as all Pods of a node that starts. It cuts this to its somaxconn. */
const backlog = 4_096;

/** A server that can be found at a path. */
export interface Published {
  /** Whether callers of that path still reach this server. */
  isOurs(): boolean;
  /** Takes the path away, if it is still ours. The server goes on with the connections that it has. */
  unpublish(): void;
}

/**
 * Makes `server` listen at `path`. The folder is made, 0700, if there is none.
 * @throws Error when the path is in use or is no socket, or the system's error.
 */
export async function publish(server: Server, path: string): Promise<Published> {
  const folder = dirname(path);
  mkdirSync(folder, { recursive: true, mode: 0o700 });
  await refuseOccupied(path);
  const draft = join(folder, `.new-${randomBytes(4).toString('hex')}`);
  await listen(server, draft);
  chmodSync(draft, 0o600);
  const made = statSync(draft);
  renameSync(draft, path);
  const isOurs = (): boolean => {
    const there = lstatIfAny(path);
    return there?.ino === made.ino && there.dev === made.dev;
  };
  const unpublish = (): void => {
    if (isOurs()) unlinkSync(path);
  };
  return { isOurs, unpublish };
}

async function refuseOccupied(path: string): Promise<void> {
  const there = lstatIfAny(path);
  if (!there) return;
  if (!there.isSocket()) throw new Error(`${path} is no socket: not replacing what is not ours`);
  if (await answers(path))
    throw new Error(`${path} is served by another process: stop that, or choose another --socket`);
}

function lstatIfAny(path: string): Stats | undefined {
  return lstatSync(path, { throwIfNoEntry: false });
}

/** Only a refused connection proves that nobody is there: a server that is merely busy must not lose its socket. */
function answers(path: string): Promise<boolean> {
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
