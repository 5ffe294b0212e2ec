import { expect } from 'chai';
import { createSource } from '../faults/seeded-random.ts';
import { judgeSamples, type Sample, type Verdict } from './judgement.ts';

const podsPerHour = 80;
const [kib, mib] = [2 ** 10, 2 ** 20];

interface Series {
  readonly quantity: string;
  readonly hours?: number;
  readonly life?: number;
  readonly subject?: string;
  /** The value at an hour, without noise. */
  readonly at: (hour: number, pods: number) => number;
  /** Added to each sample, at random up to this. */
  readonly noise?: number;
}

/** Twelve samples an hour. What is in use for a moment is added to most of them. */
function sampleSeries({ quantity, at, hours = 24, life = 1, subject = 'allocator-1', noise = 0 }: Series): Sample[] {
  const random = createSource(7);
  return Array.from({ length: hours * 12 }, (_, index) => {
    const hour = Math.floor(index / 12);
    const pods = hour * podsPerHour;
    return { hour, pods, subject, life, quantity, value: at(hour, pods) + random.nextInt(Math.max(1, noise)) };
  });
}

const leaksOf = (...series: readonly Series[]): string[] =>
  judgeSamples(series.flatMap(sampleSeries))
    .verdicts.filter(({ isLeak }) => isLeak)
    .map(({ subject, life, quantity }: Verdict) => `${subject}/${life} ${quantity}`);

/** A steady series of each quantity, with the noise of real programs. */
const steady: readonly Series[] = [
  { quantity: 'heap', at: () => 30 * mib, noise: 3 * mib },
  { quantity: 'resident', at: () => 120 * mib, noise: 60 * mib },
  { quantity: 'descriptors', at: () => 31, noise: 6 },
  { quantity: 'threads', at: () => 11, noise: 4 },
  { quantity: 'timers', at: () => 9, noise: 20 },
  { quantity: 'files of bindings', at: () => 9, noise: 5 },
  { quantity: 'bytes in use', at: () => 5 * mib, noise: mib },
  { quantity: 'keys log', at: () => 1_000, noise: 500 },
  { quantity: 'keys ended', at: (_, pods) => Math.floor(pods / 64) },
  { quantity: 'keys addr', at: () => 1_020 },
];

const leaking = (quantity: string, growth: (hour: number, pods: number) => number): Series => {
  const base = steady.find((each) => each.quantity === quantity);
  if (!base) throw new Error(`no series of ${quantity}`);
  return { ...base, at: (hour, pods) => base.at(hour, pods) + growth(hour, pods) };
};

describe('the judgement of a soak', () => {
  it('The judgement of a soak finds no leak in steady samples with noise', () => {
    expect(leaksOf(...steady)).to.deep.equal([]);
  });

  const planted: readonly [name: string, quantity: string, growth: Series['at'], days?: number][] = [
    ['1 KB of heap for each Pod', 'heap', (_, pods) => pods * kib, 3],
    ['3 KB of heap for each Pod', 'heap', (_, pods) => pods * 3 * kib],
    ['4 KB of heap for each fourth Pod', 'heap', (_, pods) => Math.floor(pods / 4) * 4 * kib, 3],
    ['64 KB of memory outside of the heap for each Pod', 'resident', (_, pods) => pods * 64 * kib],
    ['one descriptor an hour', 'descriptors', (hour) => hour],
    ['a timer an hour', 'timers', (hour) => hour],
    ['a thread each two hours', 'threads', (hour) => Math.floor(hour / 2)],
    ['a key for each Pod among the claims', 'keys addr', (_, pods) => pods],
    ['a key for each Pod in the log', 'keys log', (_, pods) => pods],
    ['a key for each tenth Pod among the claims', 'keys addr', (_, pods) => Math.floor(pods / 10)],
    ['a key for each Pod that has ended', 'keys ended', (_, pods) => pods],
    ['1 KB in etcd for each Pod', 'bytes in use', (_, pods) => pods * kib],
    ['a file for each 16th Pod', 'files of bindings', (_, pods) => Math.floor(pods / 16)],
  ];
  for (const [name, quantity, growth, days = 1] of planted)
    it(`The judgement of a soak finds ${name} in ${days === 1 ? 'a day' : `${days} days`}, and nothing else`, () => {
      const hours = days * 24;
      const others = steady.map((each) => ({ ...each, hours }));
      expect(leaksOf(...others, { ...leaking(quantity, growth), hours, subject: 'planted' })).to.deep.equal([
        `planted/1 ${quantity}`,
      ]);
    });

  it('The judgement of a soak accepts a cache that is filled in the first quarter', () => {
    const fill = (_: number, pods: number): number => Math.min(pods, 400) * 4 * kib;
    expect(leaksOf(leaking('heap', fill))).to.deep.equal([]);
  });

  it('The judgement of a soak accepts one step at any hour, and finds a step at each third hour', () => {
    for (const at of [8, 12, 15, 20]) {
      const step = leaking('heap', (hour) => (hour < at ? 0 : 4 * mib));
      expect(leaksOf(step), `a step at hour ${at}`).to.deep.equal([]);
    }
    expect(leaksOf(leaking('descriptors', (hour) => 3 * Math.floor(hour / 3)))).to.deep.equal([
      'allocator-1/1 descriptors',
    ]);
  });

  it('The judgement of a soak judges each process of a program by itself: a restart neither hides a leak nor counts as one', () => {
    const leak = leaking('heap', (_, pods) => pods * 3 * kib);
    const second = sampleSeries({ ...leak, life: 2 }).map((sample) => ({ ...sample, hour: sample.hour + 24 }));
    const { verdicts } = judgeSamples([...sampleSeries(leak), ...second]);
    expect(verdicts.map(({ life, isLeak }) => [life, isLeak])).to.deep.equal([
      [1, true],
      [2, true],
    ]);
    const larger = { ...leaking('heap', () => 10 * mib), life: 2 };
    expect(
      leaksOf(
        leaking('heap', () => 0),
        larger,
      ),
    ).to.deep.equal([]);
  });

  it('The judgement of a soak judges no series of less than 6 hours, and names the program if none of its processes was judged', () => {
    const short = sampleSeries({ ...leaking('heap', (_, pods) => pods * kib), hours: 5, subject: 'allocator-2' });
    expect(judgeSamples(short)).to.deep.equal({ verdicts: [], unjudged: ['allocator heap'] });
    const long = sampleSeries({ ...leaking('heap', () => 0), life: 2 });
    expect(judgeSamples([...short, ...long]).unjudged).to.deep.equal([]);
  });

  it('The judgement of a soak reports the growth from the middle of the second quarter to the middle of the last', () => {
    const [verdict] = judgeSamples(sampleSeries({ quantity: 'heap', at: (_, pods) => mib + pods * kib })).verdicts;
    expect(verdict).to.include({ hours: 12, pods: 12 * podsPerHour, isLeak: true });
    expect(verdict?.early).to.equal(mib + 6 * podsPerHour * kib);
    expect(verdict?.late).to.equal(mib + 18 * podsPerHour * kib);
    expect(verdict?.growth).to.be.closeTo(12 * podsPerHour * kib, 1);
  });

  it('The judgement of a soak judges each role of a process by itself, and only its own hours', () => {
    const inRole = (role: string, isInRole: (hour: number) => boolean, at: Series['at']): Sample[] =>
      sampleSeries({ quantity: 'heap', subject: `allocator-1 ${role}`, at, hours: 48 }).filter(({ hour }) =>
        isInRole(hour),
      );
    const isWriter = (hour: number): boolean => hour % 12 < 6;
    const { verdicts } = judgeSamples([
      ...inRole('writer', isWriter, () => 50 * mib),
      ...inRole(
        'standby',
        (hour) => !isWriter(hour),
        (_, pods) => 30 * mib + pods * kib,
      ),
    ]);
    expect(verdicts.map(({ subject, hours, isLeak }) => [subject, hours, isLeak])).to.deep.equal([
      ['allocator-1 writer', 12, false],
      ['allocator-1 standby', 12, true],
    ]);
    expect(verdicts[0]?.pods, 'Pods of its own hours').to.be.within(9 * podsPerHour, 12 * podsPerHour);
  });

  it('The judgement of a soak rejects a quantity without a limit', () => {
    expect(() => judgeSamples(sampleSeries({ quantity: 'mood', at: () => 1 }))).to.throw(/no limit .* "mood"/);
  });
});
