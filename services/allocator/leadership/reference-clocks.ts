/**
 * Compares this machine's clock with the clocks of etcd and of the Kubernetes API, by the Date in
 * their HTTP replies. An allocator with a wrong clock would shift ledger time forever: cooldowns
 * would end early, and queries for later times would find no holder. So an allocator is not elected
 * before the clocks agree. A term that has begun continues, because ledger time does not follow a
 * jump, and a reference may be wrong.
 */
import { readFileSync } from 'node:fs';
import { request as requestPlain } from 'node:http';
import { request as requestTls, type RequestOptions } from 'node:https';
import { pause } from '../../../lib/process/abortable.ts';
import type { Logger } from '../../../lib/process/log.ts';
import type { EtcdAccess } from '../../../ledger/log/store/etcd-access.ts';

/** The allowed difference. A Date has only whole seconds, and a reply may be slow. */
export const maxDifferenceMs = 60_000;
const timeoutMs = 2_000;
const everyMs = 30_000;
/** The interval while the clock is wrong, until an operator corrects it. */
const everyMsWhileWrong = 2_000;
const accountAuthorities = '/var/run/secrets/kubernetes.io/serviceaccount/ca.crt';

export interface Reference {
  /** "host:port", for metrics and logs. */
  readonly name: string;
  /** Any URL of the server: even a refusal has a Date. */
  readonly url: string;
  /** Read for each request, because certificates are renewed. */
  readonly tls?: () => Pick<RequestOptions, 'ca' | 'cert' | 'key'>;
}

/** The members of etcd, and the Kubernetes API if this Pod can verify its certificate. */
export function referencesOf(etcd: string, access: EtcdAccess, env: NodeJS.ProcessEnv): Reference[] {
  const { certificates, authorities } = access;
  const tls = (): ReturnType<NonNullable<Reference['tls']>> =>
    certificates?.current ?? (authorities === undefined ? {} : { ca: readFileSync(authorities) });
  const members = etcd.split(',').map((endpoint) => {
    const url = new URL('/version', endpoint.includes('://') ? endpoint : `http://${endpoint}`);
    return { name: url.host, url: url.href, tls };
  });
  const [host = '', port = ''] = [env['KUBERNETES_SERVICE_HOST'], env['KUBERNETES_SERVICE_PORT']];
  if (host === '') return members;
  const url = `https://${host.includes(':') ? `[${host}]` : host}:${port}/version`;
  return [...members, { name: 'kubernetes', url, tls: () => ({ ca: readFileSync(accountAuthorities) }) }];
}

export interface ReferenceClocksOptions {
  readonly references: readonly Reference[];
  /** How far this clock is ahead of the clocks of the other replicas. */
  readonly peers: () => readonly number[];
  /** Whether an operator has stated that this clock is right. */
  readonly isAccepted: boolean;
  readonly log: Logger;
  /** This machine's clock. Default: Date.now. */
  readonly wall?: () => number;
  /** Resolves to the Date in the reference's reply. Default: by HTTP. */
  readonly readDate?: (reference: Reference, signal: AbortSignal) => Promise<number>;
}

export class ReferenceClocks {
  readonly #options: ReferenceClocksOptions;
  #aheadMs: ReadonlyMap<string, number> = new Map();
  #isRead = Promise.withResolvers<void>();
  #wasWrong = false;

  constructor(options: ReferenceClocksOptions) {
    this.#options = options;
  }

  /** How far this clock is ahead of each reference, at the reference's last reply. */
  get aheadMs(): ReadonlyMap<string, number> {
    return this.#aheadMs;
  }

  /**
   * The largest difference to a reference, if this clock may be wrong: a reference differs by more
   * than a minute, and this clock does not agree with the majority of all known clocks. Of two
   * clocks that differ, either may be right, so an operator decides.
   */
  get wrongByMs(): number | undefined {
    const references = [...this.#aheadMs.values()];
    const isFar = (aheadMs: number): boolean => Math.abs(aheadMs) > maxDifferenceMs;
    const all = [...references, ...this.#options.peers(), 0];
    if (!references.some(isFar) || all.filter((aheadMs) => !isFar(aheadMs)).length * 2 > all.length) return undefined;
    return references.toSorted((a, b) => Math.abs(b) - Math.abs(a))[0];
  }

  /** Resolves when this clock agrees with the references or is accepted, or after an abort. */
  async untilAgrees(signal: AbortSignal): Promise<void> {
    await Promise.race([this.#isRead.promise, pause(timeoutMs * 2, signal)]);
    while (!signal.aborted && !this.#options.isAccepted && this.wrongByMs !== undefined) await pause(100, signal);
  }

  /** Reads the references until the signal is aborted. */
  async run(signal: AbortSignal): Promise<void> {
    while (!signal.aborted) {
      await this.read(signal);
      this.#isRead.resolve();
      await pause(this.wrongByMs === undefined ? everyMs : everyMsWhileWrong, signal);
    }
  }

  async read(signal: AbortSignal): Promise<void> {
    const { references, readDate = readDateHeader, wall = Date.now, log } = this.#options;
    const read = async (reference: Reference): Promise<[string, number][]> => {
      try {
        const date = await readDate(reference, signal);
        return [[reference.name, wall() - date]];
      } catch (error) {
        log.debug({ err: error, reference: reference.name }, 'a reference for the clock does not answer');
        return [];
      }
    };
    const differences = (await Promise.all(references.map(read))).flat();
    // A reference that does not answer keeps its difference, because silence is no agreement.
    this.#aheadMs = new Map([...this.#aheadMs, ...differences]);
    this.#report();
  }

  #report(): void {
    const { isAccepted, log } = this.#options;
    const wrongByMs = this.wrongByMs;
    if (wrongByMs === undefined) {
      if (this.#wasWrong) log.info('the clock agrees with most other clocks again');
      this.#wasWrong = false;
      return;
    }
    if (this.#wasWrong) return;
    this.#wasWrong = true;
    const consequence = isAccepted
      ? 'it is accepted (--accept-clock)'
      : 'so this replica will not be elected: correct the clock, or if the other clocks are wrong, start it with --accept-clock';
    log.error({ aheadMs: Object.fromEntries(this.#aheadMs) }, `the clock differs from other clocks, ${consequence}`);
  }
}

function readDateHeader({ url, tls }: Reference, signal: AbortSignal): Promise<number> {
  const options = {
    agent: false,
    timeout: timeoutMs,
    signal: AbortSignal.any([signal, AbortSignal.timeout(timeoutMs)]),
  };
  return new Promise((resolve, reject) => {
    const sent = url.startsWith('https:') ? requestTls(url, { ...options, ...tls?.() }) : requestPlain(url, options);
    sent.on('error', reject);
    sent.on('response', (response) => {
      response.destroy();
      const date = Date.parse(response.headers.date ?? '');
      if (Number.isNaN(date)) reject(new Error('its answer has no Date'));
      // A Date is truncated to seconds. Uses the middle of that second.
      else resolve(date + 500);
    });
    sent.end();
  });
}
