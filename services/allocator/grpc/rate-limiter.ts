/**
 * Limits the rate of node agents: each agent has a token bucket for commands, a token bucket for
 * queries, and a maximum of calls in progress. A call takes at least one token, and another one for
 * each further event that it writes, or each ten claims that it reads. So a node can neither fill
 * etcd nor delay other callers. The replica that executes a call charges the original caller, even
 * if a standby forwarded the call.
 *
 * The pod-watcher, operators and allocators have no rate limit, because they serve all nodes. What
 * viewers and users read is limited by reader-limits.ts. Without TLS, callers cannot be
 * distinguished, and no call is limited.
 */
import { Option } from 'commander';
import { IpledgerError } from '../../../lib/errors.ts';
import type { Logger } from '../../../lib/process/log.ts';
import type { CallContext } from '../../../lib/grpc/server/serve.ts';
import { parseWholeNumber } from '../../../lib/process/options.ts';
import { storeNewest } from '../../../lib/maps.ts';
import { type BucketLimit, TokenBucket } from '../../../lib/process/token-bucket.ts';
import { isReader, ReaderLimits } from './reader-limits.ts';

/** A command may write events, a query only reads, and a list reads many claims. */
export type CallKind = 'command' | 'query' | 'list';

export interface RateLimits {
  /** The commands per second that an agent may send on average; 0: no limit. */
  readonly agentRate: number;
  /** The commands that an idle agent may send in one burst. */
  readonly agentBurst: number;
}

/**
 * A booting node with 250 Pods of 4 attachments sends 1,000 unbinds and 1,000 binds; with two
 * events for a bind that replaces a binding, that is 3,000 events. Later, one Pod start per second
 * causes 4 binds and 4 unbinds.
 */
export const defaultRateLimits: RateLimits = { agentRate: 20, agentBurst: 4_000 };

/**
 * Queries write nothing to etcd. A booting node sends one query per Wait, one per 250 bindings, and
 * CHECKs.
 */
const queryLimits = { perSecond: 100, burst: 5_000 };
/** The most calls of one agent in progress: eight batches of the writer. */
const maxInProgress = 1_024;
/**
 * The most lists of one agent in progress, because other callers wait longest for lists. CNI GC
 * lists once for each network.
 */
const maxLists = 8;
/** The claims of a list that cost as much as a query of a single claim. */
const claimsPerToken = 10;
/** Twice the nodes of a large cluster. The identity that is idle longest is removed first. */
const maxIdentities = 10_000;
const logIntervalMs = 60_000;

/** The flags. Each has an environment variable. */
export const rateLimitOptions = (): Option[] => [
  new Option('--agent-rate <count>', 'commands per second that each agent may send; 0: no limit')
    .env('IPLEDGER_AGENT_RATE')
    .default(defaultRateLimits.agentRate)
    .argParser((text) => parseWholeNumber(text, 0, 1_000_000)),
  new Option('--agent-burst <count>', 'commands that an idle agent may send in one burst')
    .env('IPLEDGER_AGENT_BURST')
    .default(defaultRateLimits.agentBurst)
    .argParser((text) => parseWholeNumber(text, 1, 1_000_000)),
];

interface Account extends Record<'command' | 'query', TokenBucket> {
  inProgress: number;
  lists: number;
  loggedAt: number;
}

export class RateLimiter {
  readonly #limits: Record<'command' | 'query', BucketLimit>;
  readonly #log: Logger;
  readonly #monotonic: () => number;
  readonly #accounts = new Map<string, Account>();
  readonly #readers: ReaderLimits;

  /** @param monotonic milliseconds from any origin */
  constructor(
    { agentRate, agentBurst }: RateLimits,
    log: Logger,
    monotonic = () => performance.now(),
    readers = new ReaderLimits(),
  ) {
    this.#limits = { command: { perSecond: agentRate, burst: agentBurst }, query: queryLimits };
    this.#log = log;
    this.#monotonic = monotonic;
    this.#readers = readers;
  }

  /** The number of identities with a bucket. */
  get identityCount(): number {
    return this.#accounts.size;
  }

  /**
   * Runs a call, unless its caller is over the limit.
   * @param costOf returns the cost of an answer: the events that it wrote, or the claims that it
   * read.
   * @throws IpledgerError RATE_LIMITED: the call was not executed.
   */
  admit<Answer>(
    context: CallContext,
    kind: CallKind,
    run: () => Promise<Answer>,
    costOf: (answer: Answer) => number = () => 1,
  ): Promise<Answer> {
    const { actor, ownNode } = context;
    if (kind === 'list' && isReader(actor)) return this.#readers.list(context, run, costOf);
    const isLimited = ownNode !== undefined && this.#limits.command.perSecond > 0;
    return isLimited ? this.#admitLimited(actor, kind, run, costOf) : run();
  }

  /** Counts a read of a viewer or user. @throws IpledgerError RATE_LIMITED beyond its rate */
  takeRead(actor: string): void {
    this.#readers.takeCall(actor);
  }

  /**
   * Refuses a call of an agent that has used up its rate, before its request is read.
   * @throws IpledgerError RATE_LIMITED
   */
  refuseExhausted(actor: string, kind: CallKind): void {
    const account = this.#accounts.get(actor);
    if (account) this.#refuseBeyond(account, actor, kind);
  }

  async #admitLimited<Answer>(
    actor: string,
    kind: CallKind,
    run: () => Promise<Answer>,
    costOf: (answer: Answer) => number,
  ): Promise<Answer> {
    const account = this.#accountOf(actor);
    const list = kind === 'list' ? 1 : 0;
    this.#charge(account, actor, kind);
    account.inProgress++;
    account.lists += list;
    try {
      const answer = await run();
      const tokens = list ? Math.ceil(costOf(answer) / claimsPerToken) : costOf(answer);
      account[bucketOf(kind)].spend(Math.max(0, tokens - 1));
      return answer;
    } finally {
      account.inProgress--;
      account.lists -= list;
    }
  }

  #accountOf(actor: string): Account {
    const account = this.#accounts.get(actor) ?? {
      command: new TokenBucket(this.#limits.command, this.#monotonic()),
      query: new TokenBucket(this.#limits.query, this.#monotonic()),
      inProgress: 0,
      lists: 0,
      loggedAt: -Infinity,
    };
    storeNewest(this.#accounts, actor, account, maxIdentities);
    return account;
  }

  #charge(account: Account, actor: string, kind: CallKind): void {
    this.#refuseBeyond(account, actor, kind);
    account[bucketOf(kind)].take(this.#monotonic());
  }

  #refuseBeyond(account: Account, actor: string, kind: CallKind): void {
    if (account.inProgress >= maxInProgress)
      throw this.#rateLimitError(account, `${actor} has ${maxInProgress} calls in progress, and that is the limit`);
    if (kind === 'list' && account.lists >= maxLists)
      throw this.#rateLimitError(account, `${actor} has ${maxLists} lists in progress, and that is the limit`);
    const bucket = bucketOf(kind);
    const { perSecond, burst } = this.#limits[bucket];
    if (account[bucket].isEmpty(this.#monotonic()))
      throw this.#rateLimitError(
        account,
        bucket === 'command'
          ? `${actor} sent more than ${perSecond} commands per second, after a burst of ${burst}; each event counts`
          : `${actor} sent more than ${perSecond} queries per second, after a burst of ${burst}; each ${claimsPerToken} claims of a list count`,
      );
  }

  #rateLimitError(account: Account, reason: string): IpledgerError {
    const now = this.#monotonic();
    if (now - account.loggedAt > logIntervalMs) {
      account.loggedAt = now;
      this.#log.warn({ reason }, 'an agent is over its rate limit: its calls are rejected, and it retries');
    }
    const advice =
      'the call was not executed: try again in a second. If the node needs more, raise --agent-rate or --agent-burst';
    return new IpledgerError('RATE_LIMITED', `${reason}; ${advice}`);
  }
}

const bucketOf = (kind: CallKind): 'command' | 'query' => (kind === 'command' ? 'command' : 'query');
