/** Compares the commands that the watchers sent with the commands that were necessary. */
import type { AllocateRequest, ReleaseRequest } from '../../proto/generated/ipledger.ts';
import type { CountingProxy } from './counting-proxy.ts';
import type { ChurnedPod } from './pod-churn.ts';

export interface ExpectedCommands {
  readonly allocate?: readonly ChurnedPod[];
  readonly release?: readonly ChurnedPod[];
  /** Release is optional: an allocation may be transferred to a Pod of the same name instead. */
  readonly mayRelease?: readonly ChurnedPod[];
}

/**
 * Requires one command for each Pod since the reset of the counter, and no other command. Answered
 * commands count: another command may have been executed, and its sender may repeat it.
 * @param lives all Pods of the test
 * @throws Error with each command that was sent too often or not at all
 */
export function expectCommands(
  counter: CountingProxy,
  { allocate = [], release = [], mayRelease = [] }: ExpectedCommands,
  lives: readonly ChurnedPod[],
): void {
  const sent = countCommands(counter);
  const expected = new Set([...allocate.map(commandOf('allocate')), ...release.map(commandOf('release'))]);
  const optional = new Set(mayRelease.map(commandOf('release')));
  const names = new Map(lives.map(({ uid, name }) => [uid, name]));
  const found = [...new Set([...expected, ...sent.keys()])].flatMap((command) => {
    const { answered, unanswered } = sent.get(command) ?? none;
    const expectedTimes = expected.has(command) ? 1 : 0;
    const isExpected =
      expectedTimes === 0 ? answered + unanswered === 0 : answered === 1 || (answered === 0 && unanswered > 0);
    if (isExpected || optional.has(command)) return [];
    const pod = names.get(command.split(' ')[1] ?? '') ?? 'unknown';
    return [`${command} (Pod ${pod}): ${answered} answered, ${unanswered} unanswered, expected ${expectedTimes}`];
  });
  if (found.length > 0)
    throw new Error(`${found.length} of ${sent.size} commands are wrong:\n  - ${found.join('\n  - ')}`);
}

const commandOf =
  (verb: string) =>
  ({ uid }: Pick<ChurnedPod, 'uid'>): string =>
    `${verb} ${uid}`;

interface Times {
  readonly answered: number;
  readonly unanswered: number;
}

const none: Times = { answered: 0, unanswered: 0 };

/** Counts the replies by command, such as "release <uid>". */
function countCommands(counter: CountingProxy): ReadonlyMap<string, Times> {
  const sent = new Map<string, Times>();
  const count = (command: string, isAnswered: boolean): void => {
    const { answered, unanswered } = sent.get(command) ?? none;
    sent.set(command, {
      answered: answered + (isAnswered ? 1 : 0),
      unanswered: unanswered + (isAnswered ? 0 : 1),
    });
  };
  for (const { request, outcome } of counter.requestsOf('allocate'))
    count(`allocate ${(request as AllocateRequest).pod?.uid}`, outcome !== 'unanswered');
  for (const { request, outcome } of counter.requestsOf('release'))
    count(`release ${(request as ReleaseRequest).podUid}`, outcome !== 'unanswered');
  return sent;
}
