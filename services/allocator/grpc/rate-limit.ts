/**
 * How many commands and questions each agent may send: a token bucket for each, and a share of the writer's queue. One node can
 * neither fill etcd nor keep other callers waiting. The replica that decides or answers charges the identity that asked first, also
 * where a standby passed the call on.
 *
 * Watcher, operators, viewers and allocators have no limit: they work for the whole cluster. Without TLS callers cannot be told apart,
 * and nothing is limited.
 */
import { Option } from 'commander';
import { IpledgerError } from '../../../lib/errors.ts';
import type { Logger } from '../../../lib/log.ts';
import type { CallContext } from '../../../lib/serving/serve.ts';
import { wholeNumber } from '../archive/settings.ts';

/** What changes the ledger, and what only reads it. */
export type Work = 'command' | 'question';

export interface RateLimits {
  /** Commands that an agent may send a second in the long run; 0: as many as it likes. */
  readonly agentRate: number;
  /** Commands that it may send at once after it was quiet. */
  readonly agentBurst: number;
}

/**
 * A node that boots with 250 Pods of 4 attachments each ends 1,000 bindings and makes 1,000. Later a Pod that starts each second
 * makes 4 and ends 4.
 */
export const usualLimits: RateLimits = { agentRate: 20, agentBurst: 2_000 };

/** Questions cost no etcd: those of a booting node are one for each Wait, a page for each 500 bindings, and CHECKs. */
const questions = { perSecond: 100, burst: 5_000 };
/** Undecided at a time, of one agent: eight batches of the writer. */
const mostInProgress = 1_024;
/** Identities that are remembered, twice the nodes of a large cluster; the one that was quiet longest is forgotten first. */
const mostIdentities = 10_000;
const logAgainMs = 60_000;

/** --agent-rate and --agent-burst. */
export const rateOptions = (): Option[] => [
  new Option('--agent-rate <count>', 'commands that each agent may send a second; 0 for no limit')
    .env('IPLEDGER_AGENT_RATE')
    .default(usualLimits.agentRate)
    .argParser((text) => wholeNumber(text, 0, 1_000_000)),
  new Option('--agent-burst <count>', 'commands that it may send at once after it was quiet')
    .env('IPLEDGER_AGENT_BURST')
    .default(usualLimits.agentBurst)
    .argParser((text) => wholeNumber(text, 1, 1_000_000)),
];

interface Bucket {
  tokens: number;
  filledAt: number;
}

interface Account extends Record<Work, Bucket> {
  inProgress: number;
  loggedAt: number;
}

export class RateLimiter {
  readonly #limits: Record<Work, { readonly perSecond: number; readonly burst: number }>;
  readonly #log: Logger;
  readonly #monotonic: () => number;
  readonly #accounts = new Map<string, Account>();

  /** @param monotonic milliseconds from any origin. */
  constructor({ agentRate, agentBurst }: RateLimits, log: Logger, monotonic = () => performance.now()) {
    this.#limits = { command: { perSecond: agentRate, burst: agentBurst }, question: questions };
    this.#log = log;
    this.#monotonic = monotonic;
  }

  /** How many identities are remembered. */
  get size(): number {
    return this.#accounts.size;
  }

  /**
   * Does the work of a call, unless its caller sends too much.
   * @throws IpledgerError RATE_LIMITED, and nothing came of the call.
   */
  async admit<Answer>({ actor, ownNode }: CallContext, work: Work, todo: () => Promise<Answer>): Promise<Answer> {
    if (ownNode === undefined || this.#limits.command.perSecond === 0) return todo();
    const account = this.#accountOf(actor);
    this.#charge(account, actor, work);
    account.inProgress++;
    try {
      return await todo();
    } finally {
      account.inProgress--;
    }
  }

  #accountOf(actor: string): Account {
    const filledAt = this.#monotonic();
    const account = this.#accounts.get(actor) ?? {
      command: { tokens: this.#limits.command.burst, filledAt },
      question: { tokens: this.#limits.question.burst, filledAt },
      inProgress: 0,
      loggedAt: -Infinity,
    };
    this.#accounts.delete(actor);
    this.#accounts.set(actor, account);
    const [quietest] = this.#accounts.keys();
    if (this.#accounts.size > mostIdentities && quietest !== undefined) this.#accounts.delete(quietest);
    return account;
  }

  #charge(account: Account, actor: string, work: Work): void {
    if (account.inProgress >= mostInProgress)
      throw this.#refusal(account, `${actor} has ${mostInProgress} calls in progress, which is the limit`);
    const { perSecond, burst } = this.#limits[work];
    const bucket = account[work];
    const now = this.#monotonic();
    bucket.tokens = Math.min(burst, bucket.tokens + ((now - bucket.filledAt) / 1_000) * perSecond);
    bucket.filledAt = now;
    if (bucket.tokens < 1)
      throw this.#refusal(account, `${actor} sent more than ${perSecond} ${work}s a second, after ${burst} at once`);
    bucket.tokens--;
  }

  #refusal(account: Account, reason: string): IpledgerError {
    const now = this.#monotonic();
    if (now - account.loggedAt > logAgainMs) {
      account.loggedAt = now;
      this.#log.warn({ reason }, 'an agent sends too much: its calls are rejected, and it retries');
    }
    const advice =
      'nothing was done: try again in a second. If the node needs more, raise --agent-rate or --agent-burst';
    return new IpledgerError('RATE_LIMITED', `${reason}; ${advice}`);
  }
}
