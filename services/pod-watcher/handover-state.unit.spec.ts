import { setTimeout as sleep } from 'node:timers/promises';
import { expect } from 'chai';
import { type HandoverState, HandoverStateWriter, emptyHandoverState, parseHandoverState } from './handover-state.ts';

const seen = (pods: string, doubts: Partial<HandoverState> = {}): HandoverState => ({
  ...emptyHandoverState,
  pods,
  nodes: pods,
  ...doubts,
});

describe('Handover state', () => {
  it('Handover state is unchanged after it is written and parsed', () => {
    const keeper = new HandoverStateWriter(emptyHandoverState, 0);
    expect(parseHandoverState(keeper.write(seen('7', { vanishedPods: 60, vanishedNodes: 6 })))).to.deep.equal(
      seen('7', { vanishedPods: 60, vanishedNodes: 6 }),
    );
  });

  it('Handover state has the position in the ledger', () => {
    const ledger = { epoch: 2, seq: 42, hash: 'abc' };
    const keeper = new HandoverStateWriter(emptyHandoverState);
    expect(parseHandoverState(keeper.write({ ...emptyHandoverState, ledger }))).to.deep.equal({
      ...emptyHandoverState,
      ledger,
    });
  });

  it('Handover state has the times of terminating Pods, and the Nodes out of service, up to its limits', () => {
    const keeper = new HandoverStateWriter(emptyHandoverState);
    const seenByThisWatcher = { terminating: { 'uid-1': [30, 4_000] as const }, outOfService: { 'node-1': 7 } };
    expect(parseHandoverState(keeper.write({ ...emptyHandoverState, ...seenByThisWatcher }))).to.deep.include(
      seenByThisWatcher,
    );
    const many = Object.fromEntries(Array.from({ length: 300 }, (_, index) => [`uid-${index}`, [30, 1]]));
    const broken = { a: 'x', b: [1], c: [-1, 2], d: [1, 2] };
    const parse = (terminating: object) => parseHandoverState(JSON.stringify({ terminating })).terminating;
    expect(Object.keys(parse(many))).to.have.length(256);
    expect(parse(broken)).to.deep.equal({ c: [0, 2], d: [1, 2] });
  });

  it('Handover state is empty for a text in another form', () => {
    for (const written of ['', 'null', '{', '[]', '"x"', '{"pods":7,"vanishedPods":-1}'])
      expect(parseHandoverState(written), written).to.deep.equal(emptyHandoverState);
  });

  it('Handover state has a version only after the settle time', async () => {
    const keeper = new HandoverStateWriter(seen('5'), 300);
    const written = (pods: string): string => parseHandoverState(keeper.write(seen(pods))).pods;
    expect(written('7')).to.equal('5');
    await sleep(310);
    expect(written('9')).to.equal('7');
    expect(written('')).to.equal('7');
    await sleep(310);
    expect(written('')).to.equal('9');
  });

  it('Handover state has the first version until another version has settled', () => {
    const keeper = new HandoverStateWriter(emptyHandoverState);
    expect(parseHandoverState(keeper.write(emptyHandoverState)).pods).to.equal('');
    expect(parseHandoverState(keeper.write(seen('7'))).pods).to.equal('7');
    expect(parseHandoverState(keeper.write(seen('9'))).pods).to.equal('7');
  });

  it('Handover state has the first version of Pods while the version of Nodes is unknown', () => {
    const keeper = new HandoverStateWriter(emptyHandoverState);
    const written = parseHandoverState(keeper.write({ ...emptyHandoverState, pods: '7' }));
    expect(written).to.deep.include({ pods: '7', nodes: '' });
  });
});
