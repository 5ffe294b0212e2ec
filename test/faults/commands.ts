/** What watchers asked an allocator to change, compared with what there was to change. */
import type { AllocateRequest, ReleaseRequest } from '../../proto/ipledger.ts';
import type { Counter } from './counting.ts';
import type { Life } from './crowd.ts';

export interface Wanted {
  readonly allocate?: readonly Life[];
  readonly release?: readonly Life[];
  /** May be released: what a Pod of the same name held may be passed on, and then needs no release. */
  readonly mayRelease?: readonly Life[];
}

/**
 * Each Pod was asked for with one command since the counter was reset, and nothing else was. Only what was answered counts: what
 * was not, on a machine that is too slow for it, may have been done, and may rightly be asked again.
 * @param lives every Pod that there ever was
 * @throws Error that says which command was sent how often, and how often it should have been.
 */
export function expectCommands(
  counter: Counter,
  { allocate = [], release = [], mayRelease = [] }: Wanted,
  lives: readonly Life[],
): void {
  const sent = sentTo(counter);
  const wanted = new Set([...allocate.map(named('allocate')), ...release.map(named('release'))]);
  const optional = new Set(mayRelease.map(named('release')));
  const names = new Map(lives.map(({ uid, name }) => [uid, name]));
  const found = [...new Set([...wanted, ...sent.keys()])].flatMap((command) => {
    const { answered, unanswered } = sent.get(command) ?? none;
    const should = wanted.has(command) ? 1 : 0;
    const asShould = should === 0 ? answered + unanswered === 0 : answered === 1 || (answered === 0 && unanswered > 0);
    if (asShould || optional.has(command)) return [];
    const pod = names.get(command.split(' ')[1] ?? '') ?? 'that nobody knows';
    return [`${command} (Pod ${pod}): answered ${answered} times and ${unanswered} times not, should be ${should}`];
  });
  if (found.length > 0)
    throw new Error(`of ${sent.size} commands these are not as they should be:\n  - ${found.join('\n  - ')}`);
}

const named =
  (verb: string) =>
  ({ uid }: Pick<Life, 'uid'>): string =>
    `${verb} ${uid}`;

interface Times {
  readonly answered: number;
  readonly unanswered: number;
}

const none: Times = { answered: 0, unanswered: 0 };

/** By command, as "release <uid>". */
function sentTo(counter: Counter): ReadonlyMap<string, Times> {
  const sent = new Map<string, Times>();
  const note = (command: string, isAnswered: boolean): void => {
    const { answered, unanswered } = sent.get(command) ?? none;
    sent.set(command, {
      answered: answered + (isAnswered ? 1 : 0),
      unanswered: unanswered + (isAnswered ? 0 : 1),
    });
  };
  for (const { request, outcome } of counter.requestsOf('allocate'))
    note(`allocate ${(request as AllocateRequest).pod?.uid}`, outcome !== 'unanswered');
  for (const { request, outcome } of counter.requestsOf('release'))
    note(`release ${(request as ReleaseRequest).podUid}`, outcome !== 'unanswered');
  return sent;
}
