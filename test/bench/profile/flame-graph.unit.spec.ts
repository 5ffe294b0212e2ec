import { expect } from 'chai';
import { collectFrames, type CpuProfile, drawFlameGraph } from './flame-graph.ts';

const frame = (functionName: string) => ({ functionName, url: 'file:///a/program.ts', lineNumber: 9 });
const profile: CpuProfile = {
  nodes: [
    { id: 1, callFrame: { functionName: '(root)', url: '', lineNumber: -1 }, children: [2, 5, 6] },
    { id: 2, callFrame: frame('serve'), children: [3, 4] },
    { id: 3, callFrame: frame('decide') },
    { id: 4, callFrame: frame('<T>') },
    { id: 5, callFrame: { functionName: '(idle)', url: '', lineNumber: -1 } },
    { id: 6, callFrame: frame('serve') },
  ],
  samples: [3, 4, 2, 5, 6],
  timeDeltas: [600, 300, 100, 9_000, 1_000],
};

describe('A flame graph', () => {
  it('A flame graph adds up the time of each stack, and leaves idle time out', () => {
    const root = collectFrames(profile);
    expect(root.us).to.equal(2_000);
    const serve = root.callees.get('serve program.ts:10');
    expect(serve?.us).to.equal(2_000);
    expect([...(serve?.callees.values() ?? [])].map(({ name, us }) => [name, us])).to.deep.equal([
      ['decide program.ts:10', 600],
      ['<T> program.ts:10', 300],
    ]);
  });

  it('A flame graph shows each frame with its part of the time', () => {
    const svg = drawFlameGraph(collectFrames(profile), 'allocator');
    expect(svg).to.contain('<title>decide program.ts:10: 0.6 ms, 30.0 %</title>');
    expect(svg).to.contain('&lt;T&gt; program.ts:10');
    expect(drawFlameGraph(collectFrames({ ...profile, samples: [] }), 'idle')).to.contain('idle');
  });
});
