/**
 * Rules for all spec files: a unit spec opens no socket and starts no process, and each file stops
 * what it starts. Mocha runs these hooks around each file, and without --parallel around the run.
 */
import { ChildProcess } from 'node:child_process';
import { appendFileSync } from 'node:fs';
import { Server, Socket } from 'node:net';
import { relative } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Context, Hook, RootHookObject, Suite } from 'mocha';

/** The time in which a file must close its resources after its last test. */
const lingerMs = 30_000;
const pollMs = 20;

/** The file of TIMES=file, to which each spec file adds a line: seconds and name. */
const timesFile = process.env['TIMES'] ?? '';

let file = '';
let startedAt = 0;
let inUnitSpec = false;
let openBefore: readonly string[] = [];

/** Wraps a method, so that it throws while a unit spec runs. */
function forbidInUnitSpecs(prototype: object, method: string, action: string): void {
  const original: unknown = Reflect.get(prototype, method);
  if (typeof original !== 'function') throw new TypeError(`no method ${method}`);
  Reflect.set(prototype, method, function (this: unknown, ...args: unknown[]): unknown {
    if (inUnitSpec) throw new Error(`a unit spec ${action}: rename it to *.int.spec.ts or *.e2e.spec.ts`);
    return Reflect.apply(original, this, args) as unknown;
  });
}

forbidInUnitSpecs(Server.prototype, 'listen', 'listens on a socket');
forbidInUnitSpecs(Socket.prototype, 'connect', 'connects a socket');
forbidInUnitSpecs(ChildProcess.prototype, 'spawn', 'starts a process');

const isUnit = (name: string | undefined): boolean => name?.endsWith('.unit.spec.ts') === true;

/** Finds the first spec file below a suite. */
const fileOf = ({ file, suites }: Suite): string | undefined => file ?? suites.map(fileOf).find(Boolean);

/** Resources that end soon: connections with their servers, an Immediate in the next turn. */
const transient: readonly string[] = ['TCPSocketWrap', 'Immediate'];

/**
 * The time limit of a hook that starts servers. It is larger than the sum of the limits of the
 * servers: the error of a failed start names the server, with the end of its log, and the error of
 * a hook's limit does not.
 */
const startLimitMs = 600_000;

/**
 * Sets the limit of the `before` hooks of a suite and the suites in it. Mocha has no public list of
 * hooks.
 */
function limitStarts(suite: Suite): void {
  for (const hook of Reflect.get(suite, '_beforeAll') as readonly Hook[]) hook.timeout(startLimitMs);
  for (const each of suite.suites) limitStarts(each);
}

/** Lists resources that a file has opened and not closed: timers, servers, processes, pipes. */
function listOpenResources(): string[] {
  const before = [...openBefore, 'Timeout']; // mocha's, for the hook
  return process.getActiveResourcesInfo().filter((kind) => {
    const known = before.indexOf(kind);
    if (known >= 0) before.splice(known, 1);
    return known < 0 && !transient.includes(kind);
  });
}

export const mochaHooks: RootHookObject = {
  beforeAll(this: Context) {
    const suite = this.test?.parent;
    file = (suite && fileOf(suite)) ?? '';
    startedAt = performance.now();
    inUnitSpec = isUnit(file);
    openBefore = process.getActiveResourcesInfo();
    if (suite) limitStarts(suite);
  },
  beforeEach(this: Context) {
    inUnitSpec = isUnit(this.currentTest?.file);
  },
  async afterAll(this: Context) {
    this.timeout(2 * lingerMs);
    inUnitSpec = false;
    if (timesFile !== '')
      appendFileSync(
        timesFile,
        `${((performance.now() - startedAt) / 1_000).toFixed(1)} ${relative(process.cwd(), file)}\n`,
      );
    const deadline = Date.now() + lingerMs;
    for (let open = listOpenResources(); open.length > 0; open = listOpenResources()) {
      if (Date.now() > deadline)
        throw new Error(
          `the file does not stop what it starts: still open after ${lingerMs / 1000} s: ${open.join(', ')}`,
        );
      await sleep(pollMs);
    }
  },
};
