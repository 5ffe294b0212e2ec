/**
 * Tracks which members of etcd's cluster answer. Each member is probed at an interval, with a read
 * that needs the quorum. If packets to a member are lost, its calls do not fail but wait for their
 * deadlines. So a member counts as silent when its probe is late and another member has answered a
 * later probe. If all members are slow, none counts as silent.
 *
 * A follower of etcd forwards a write to the leader. If the leader is lost, the follower waits in
 * vain, although it answers probes. So calls in flight end with an election, which shows as a later
 * term in an answer.
 */
import { errorMessage } from '../../../lib/errors.ts';
import { GRPCUnavailableError } from 'etcd3';

/** A probe that has no answer for this long is late. */
const lateMs = 600;
/** A slow member gets no calls while another member is faster by this much. */
const slow = { factor: 2, plusMs: 25 };

interface Member {
  readonly endpoint: string;
  /** The time when the probe in flight was sent; undefined between probes. */
  sentAt: number | undefined;
  /** The time that the last answer took. */
  answerMs: number;
  /** Aborted while the member is silent or unreachable. */
  lost: AbortController;
}

/** The health of the members by their index. `now` is a time of performance.now(). */
export class ClusterHealth {
  readonly #members: readonly Member[];
  /** The latest term of etcd in an answer; 0 before the first answer. */
  #term = 0;
  /** Aborted at an election in etcd. */
  #elected = new AbortController();
  /** Aborted when a lost member answers again. */
  #returned = new AbortController();

  constructor(endpoints: readonly string[]) {
    this.#members = endpoints.map((endpoint) => ({
      endpoint,
      sentAt: undefined,
      answerMs: 0,
      lost: new AbortController(),
    }));
  }

  get members(): readonly { readonly endpoint: string; readonly answers: boolean }[] {
    return this.#members.map(({ endpoint, lost }) => ({ endpoint, answers: !lost.signal.aborted }));
  }

  /** Aborted while the member does not answer. When it answers again, it gets a new signal. */
  lost(index: number): AbortSignal {
    return this.#at(index).lost.signal;
  }

  /**
   * The signals that end a call that begins now. A lost member is called only while no member
   * answers, so such a call ends when any member answers.
   */
  callEnds(index: number): readonly AbortSignal[] {
    const lost = this.lost(index);
    return [this.#elected.signal, lost.aborted ? this.#returned.signal : lost];
  }

  onSent(index: number, now: number): void {
    this.#at(index).sentAt = now;
  }

  /** Records an answered probe. A member with an earlier, late probe becomes silent. */
  onAnswered(index: number, now: number, term: number): void {
    const member = this.#at(index);
    const { sentAt = now } = member;
    [member.answerMs, member.sentAt] = [now - sentAt, undefined];
    if (member.lost.signal.aborted) {
      member.lost = new AbortController();
      this.#returned.abort(new GRPCUnavailableError('a member of etcd answers again'));
      this.#returned = new AbortController();
    }
    for (const { endpoint, sentAt: waitsSince, lost } of this.#members)
      if (waitsSince !== undefined && now - waitsSince >= lateMs && sentAt - waitsSince >= lateMs / 2)
        lose(lost, new GRPCUnavailableError(`${endpoint} is silent, and other members of etcd answer`));
    this.#seeTerm(term);
  }

  #seeTerm(term: number): void {
    const isElection = this.#term > 0 && term > this.#term;
    this.#term = Math.max(this.#term, term);
    if (!isElection) return;
    this.#elected.abort(new GRPCUnavailableError('etcd has elected a leader since, and may have lost the request'));
    this.#elected = new AbortController();
  }

  /** Records a failed probe: the member is unreachable, or has no quorum. */
  onFailed(index: number, error: unknown): void {
    const member = this.#at(index);
    member.sentAt = undefined;
    const reason = errorMessage(error);
    lose(member.lost, new GRPCUnavailableError(`${member.endpoint} does not answer: ${reason}`));
  }

  /** All members in the order in which calls try them: fast in random order, slow, then silent. */
  order(now: number): readonly number[] {
    const ranked = this.#members.map((member, index) => ({ index, ms: delayMs(member, now), random: Math.random() }));
    const fastMs = slow.factor * Math.min(...ranked.map(({ ms }) => ms)) + slow.plusMs;
    const rank = (ms: number): number => (ms <= fastMs ? 0 : ms);
    return ranked
      .toSorted((one, other) => (rank(one.ms) === rank(other.ms) ? one.random - other.random : one.ms - other.ms))
      .map(({ index }) => index);
  }

  #at(index: number): Member {
    return this.#members[index] as Member;
  }
}

function lose(lost: AbortController, reason: Error): void {
  if (!lost.signal.aborted) lost.abort(reason);
}

/** The time of the last answer, or the wait for the next one if that is longer. */
function delayMs({ sentAt, answerMs, lost }: Member, now: number): number {
  return lost.signal.aborted ? Infinity : Math.max(answerMs, sentAt === undefined ? 0 : now - sentAt);
}
