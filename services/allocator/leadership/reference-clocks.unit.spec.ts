import { expect } from 'chai';
import { pino } from 'pino';
import { never } from '../../../ledger/log/testing/running-writer.ts';
import { ReferenceClocks, type ReferenceClocksOptions, referencesOf } from './reference-clocks.ts';

const hour = 3_600_000;

describe('The clock of an allocator beside those of etcd and Kubernetes', () => {
  let logged: string[];
  beforeEach(() => void (logged = []));

  /**
   * Compares with references. The own clock is ahead of each by this time; undefined: the reference
   * does not answer.
   */
  async function compare(
    references: readonly (number | undefined)[],
    { peers = [], ...more }: { peers?: number[] } & Partial<Omit<ReferenceClocksOptions, 'peers'>> = {},
  ): Promise<ReferenceClocks> {
    const write = (line: string): void => void logged.push((JSON.parse(line) as { msg: string }).msg);
    const clocks = new ReferenceClocks({
      references: references.map((_, index) => ({ name: String(index), url: '' })),
      peers: () => peers,
      isAccepted: false,
      log: pino({ level: 'info' }, { write }),
      wall: () => 0,
      readDate: ({ name }) => {
        const aheadMs = references[Number(name)];
        return aheadMs === undefined ? Promise.reject(new Error('down')) : Promise.resolve(-aheadMs);
      },
      ...more,
    });
    await clocks.read(never);
    return clocks;
  }

  const cases: [string, (number | undefined)[], number[], number | undefined][] = [
    ['is not wrong without an answer', [undefined, undefined], [], undefined],
    ['is not wrong within a minute', [60_000, -60_000], [], undefined],
    ['may be wrong, alone with one etcd: either may be right', [2 * hour], [], 2 * hour],
    ['may be wrong, behind its etcd', [-2 * hour], [], -2 * hour],
    [
      'is wrong beside three members of etcd and Kubernetes, also if the member of its own node agrees',
      [2 * hour, 2 * hour, 0, 2 * hour],
      [],
      2 * hour,
    ],
    ['is right if one of three members differs', [2 * hour, 0, 0], [], undefined],
    ['is right if two other replicas agree and one etcd differs', [2 * hour], [0, 1_000], undefined],
    ['is wrong if a replica and the references differ', [2 * hour, 2 * hour], [2 * hour], 2 * hour],
  ];
  for (const [what, references, peers, wrongByMs] of cases)
    it(`The clock of a replica ${what}`, async () => {
      expect((await compare(references, { peers })).wrongByMs).to.equal(wrongByMs);
    });

  it('an allocator with a wrong clock is not elected until the clock is corrected, and the log names the flag', async () => {
    let aheadMs = 2 * hour;
    const clocks = await compare([0], { readDate: () => Promise.resolve(-aheadMs) });
    expect(logged).to.have.length(1);
    expect(logged[0]).to.contain('will not be elected').and.contain('--accept-clock');
    let isElectable = false;
    const stopped = new AbortController();
    void clocks.run(stopped.signal);
    const waiting = clocks.untilAgrees(stopped.signal).then(() => (isElectable = true));
    await clocks.read(never);
    expect(isElectable).to.equal(false);
    aheadMs = 0;
    await clocks.read(never);
    await waiting;
    stopped.abort();
    expect(logged.at(-1)).to.equal('the clock agrees with most other clocks again');
  });

  it('an allocator is elected if an operator accepts its clock, or if no reference answers', async () => {
    for (const clocks of [await compare([2 * hour], { isAccepted: true }), await compare([undefined])]) {
      const stopped = new AbortController();
      void clocks.run(stopped.signal);
      await clocks.untilAgrees(never);
      stopped.abort();
    }
  });

  it('a wrong clock stays wrong when the references no longer answer', async () => {
    let isDown = false;
    const clocks = await compare([0], {
      readDate: () => (isDown ? Promise.reject(new Error('down')) : Promise.resolve(-2 * hour)),
    });
    isDown = true;
    await clocks.read(never);
    expect(clocks.wrongByMs).to.equal(2 * hour);
    expect(logged.filter((line) => line.includes('agrees'))).to.deep.equal([]);
  });

  it('the references are the members of etcd and, in a Pod, the Kubernetes API', () => {
    const env = { KUBERNETES_SERVICE_HOST: 'fd00::1', KUBERNETES_SERVICE_PORT: '443' };
    expect(referencesOf('https://a:2379,https://b:2379', {}, env).map(({ name, url }) => [name, url])).to.deep.equal([
      ['a:2379', 'https://a:2379/version'],
      ['b:2379', 'https://b:2379/version'],
      ['kubernetes', 'https://[fd00::1]:443/version'],
    ]);
  });
});
