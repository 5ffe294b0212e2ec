/**
 * The rows of the console, in Chromium: the speed of its pages on a long history, and the cost of
 * many viewers.
 */
import { randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Browser } from 'playwright-core';
import { call, connect } from '../../../lib/grpc/client.ts';
import { IpamService } from '../../../proto/generated/ipledger.ts';
import { openPage, startBrowser } from '../../harness/browser.ts';
import { printProgress } from '../../harness/progress.ts';
import { type ConsoleServer, startConsole } from '../../harness/console.ts';
import type { AllocatorServer } from '../../harness/services.ts';
import { cpuSeconds } from '../../scale/resource-usage.ts';
import type { BenchGroup } from '../bench-row.ts';
import { alternate, createMeasurement, measureTime, quantile } from '../measurement.ts';
import { openHistoryEnvironment, startIndexedReadModel } from './history/history-environment.ts';

const sizes = {
  smoke: { events: 300, livePods: 20, steps: 3, viewers: 2, watchMs: 300 },
  normal: { events: 1_000_000, livePods: 60_000, steps: 100, viewers: 100, watchMs: 30_000 },
  long: { events: 1_000_000, livePods: 60_000, steps: 400, viewers: 100, watchMs: 120_000 },
} as const;

/** A /16 of the Subnet of the long history. The Subnet of the smoke test has 4,096 addresses. */
const rangeOf = (livePods: number): string => (livePods > 1_000 ? 'range=10.0.0.0%2F16' : '');
/** The fewest events of a kept history: a shorter one is built faster than it is restored. */
const minKept = 100_000;
/** The interval in which a viewer reads the present map, as the page does. */
const refreshMs = 5_000;
const changeMs = 100;
const eventWithinMs = 60_000;

export const consoleRows: BenchGroup = {
  rows: ['console'],
  async measure({ run, rounds, size, record }) {
    const { livePods, steps, viewers, watchMs } = sizes[size];
    const events = Number(process.env['EVENTS'] || sizes[size].events);
    const browser = await startBrowser(run); // before the long work, which needs it
    printProgress(`building a history of ${events} events with ${livePods} live Pods in etcd:`);
    const environment = await openHistoryEnvironment(run, events, { livePods, isKept: events >= minKept });
    const { model: readModel } = await startIndexedReadModel(environment);
    const { allocator } = environment;
    const range = rangeOf(livePods);
    const server = await startConsole(run, { allocator, readModel });
    const results = [];
    for (let round = 0; round < rounds; round++) results.push(await measurePages(browser, server, { steps, range }));
    const rows = [
      { name: 'first-view', what: 'ms until the Subnets are shown', most: 1_000 },
      { name: 'map', what: 'ms from the data of a /16 to its map', most: 200 },
      { name: 'slider', what: 'ms of a step, p95', most: 150 },
    ] as const;
    for (const { name, what, most } of rows) {
      const ours = results.map((result) => result[name]);
      record(createMeasurement({ name: `console ${name}`, what, ours, goal: { atMost: most } }));
    }
    const programs = { console: server, allocator };
    const ofConsole: number[] = [];
    const writer = await alternate(
      rounds,
      async (round) => {
        const load = { viewers, watchMs, range };
        const [cores = Number.NaN, ofWriter = Number.NaN] = await measureCores([server, allocator], programs, load);
        if (round > 0) ofConsole.push(cores);
        return ofWriter;
      },
      async () => (await measureCores([allocator], programs, { viewers: 0, watchMs, range }))[0] ?? Number.NaN,
    );
    const what = `cores, with ${viewers} viewers`;
    record(createMeasurement({ name: 'console viewers', what, ours: ofConsole, goal: { atMost: 1 } }));
    record(createMeasurement({ name: 'console writer', what, ...writer, goal: { atMost: 1.2 } }));
  },
};

interface Steps {
  readonly steps: number;
  readonly range: string;
}

interface PageTimes {
  readonly 'first-view': number;
  readonly map: number;
  readonly slider: number;
}

/** Measures a new browser: the first view, the map of a /16, and steps through the history. */
async function measurePages(browser: Browser, { url }: ConsoleServer, { steps, range }: Steps): Promise<PageTimes> {
  const { page, problems } = await openPage(browser, { baseURL: url });
  const { ms } = await measureTime(async () => {
    await page.goto('/');
    await page.getByRole('row').nth(1).waitFor();
  });
  await page.goto(`/subnets/narrow?${range}`);
  await page.getByRole('application').waitFor();
  const map = await page.evaluate<number>(timeOfMap);
  const slider = quantile(await page.evaluate<number[]>(timesOfSteps(steps)), 0.95);
  await page.context().close();
  if (problems.length > 0) throw new Error(`the page reported: ${problems.join('; ')}`);
  return { 'first-view': ms, map, slider };
}

/** A script of the page: the milliseconds from the reply with the map to its picture. */
const timeOfMap = `new Promise((resolve) => {
  new PerformanceObserver((entries, observer) => {
    const [drawn] = entries.getEntriesByName('map drawn');
    const reply = performance.getEntriesByType('resource').find(({ name }) => name.includes('/map?'));
    if (!drawn || !reply) return;
    observer.disconnect();
    resolve(drawn.startTime - reply.responseEnd);
  }).observe({ type: 'mark', buffered: true });
})`;

/** A script of the page: milliseconds from each move of the slider to the picture of its time. */
const timesOfSteps = (steps: number): string => `(async () => {
  const slider = document.querySelector('input[type=range]');
  const [first, last, times] = [Number(slider.min), Number(slider.max), []];
  for (let step = 1; step <= ${steps}; step++) {
    const drawn = new Promise((resolve) => {
      new PerformanceObserver((entries, observer) => {
        if (entries.getEntriesByName('map drawn').length === 0) return;
        observer.disconnect();
        resolve();
      }).observe({ type: 'mark' });
    });
    const startedAt = performance.now();
    slider.value = String(Math.round(last - (step / (${steps} + 1)) * (last - first)));
    slider.dispatchEvent(new Event('input', { bubbles: true }));
    await drawn;
    times.push(performance.now() - startedAt);
  }
  return times;
})()`;

interface Load {
  readonly viewers: number;
  readonly watchMs: number;
  readonly range: string;
}

interface Programs {
  readonly console: ConsoleServer;
  readonly allocator: AllocatorServer;
}

/**
 * Measures the cores that each program uses while Pods come and go, and viewers follow the events
 * and read the present map. Lasts until each has used some CPU, for which an idle console takes
 * long.
 * @throws Error when a viewer receives no events
 */
async function measureCores(
  measured: readonly { readonly pid: number }[],
  { console: { url }, allocator }: Programs,
  { viewers, watchMs, range }: Load,
): Promise<number[]> {
  const leaving = new AbortController();
  const { signal } = leaving;
  const view = async (): Promise<void> => {
    const stream = await fetch(`${url}/api/v1/events/stream`, { signal });
    if (!stream.ok || !stream.body) throw new Error(`the stream has status ${stream.status}`);
    await Promise.all([follow(stream.body), readMaps()]);
  };
  let following = 0;
  const follow = async (body: AsyncIterable<Uint8Array>): Promise<void> => {
    let hasEvent = false;
    for await (const bytes of body)
      if (!hasEvent && Buffer.from(bytes).includes('event: event')) {
        hasEvent = true;
        following++;
      }
    throw new Error('the stream of a viewer has ended');
  };
  const readMaps = async (): Promise<void> => {
    for (;;) {
      const reply = await fetch(`${url}/api/v1/subnets/narrow/map?family=4&${range}`, { signal });
      if (!reply.ok) throw new Error(`the map has status ${reply.status}`);
      await reply.arrayBuffer();
      await sleep(refreshMs, undefined, { signal });
    }
  };
  const spent = (): number[] => measured.map(({ pid }) => cpuSeconds(pid));
  const [before, begin] = [spent(), performance.now()];
  const work = [changePods(allocator, signal), ...Array.from({ length: viewers }, view)];
  const failed = Promise.all(work).catch((error: unknown) => {
    if (!signal.aborted) throw error;
  });
  // Linux counts hundredths of a second
  const isMeasured = (): boolean =>
    following >= viewers && spent().every((seconds, index) => seconds !== before[index]);
  do {
    await Promise.race([sleep(watchMs), failed]);
    if (performance.now() > begin + watchMs + eventWithinMs && following < viewers)
      throw new Error(`${following} of ${viewers} viewers received events`);
  } while (!isMeasured());
  const [after, seconds] = [spent(), (performance.now() - begin) / 1_000];
  leaving.abort();
  await Promise.allSettled(work);
  return after.map((each, index) => (each - (before[index] ?? 0)) / seconds);
}

/** Allocates and releases the addresses of ten Pods each second, until the signal is aborted. */
async function changePods({ endpoint }: AllocatorServer, signal: AbortSignal): Promise<void> {
  const connection = connect(endpoint, undefined);
  const timeoutMs = 20_000;
  const cause = 'RELEASE_CAUSE_POD_DELETED';
  try {
    for (let number = 0; ; number++) {
      const [namespace, name] = ['viewed', `pod-${number}`];
      const uid = randomUUID();
      const attachments = [{ provider: 'narrow.default', ordinal: 0, subnets: ['narrow'] }];
      const pod = { namespace, name, uid, node: 'node-1' };
      await call(connection, IpamService.allocate, { pod, attachments }, { timeoutMs });
      await call(connection, IpamService.release, { namespace, pod: name, podUid: uid, cause }, { timeoutMs });
      await sleep(changeMs, undefined, { signal });
    }
  } finally {
    connection.close();
  }
}
