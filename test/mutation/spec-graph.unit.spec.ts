import { dirname } from 'node:path';
import { expect } from 'chai';
import { createSpecGraph } from './spec-graph.ts';

describe('createSpecGraph', () => {
  const specsOf = createSpecGraph();

  for (const file of [
    'ledger/domain/decide/reserve.ts',
    'ledger/domain/decide/rules/tenancy.ts',
    'ledger/log/writer/writer.ts',
    'services/pod-watcher/controllers/nodes/node-controller.ts',
  ])
    it(`createSpecGraph begins with the spec of ${file} and those of its folder`, () => {
      const specs = specsOf(file).unit;
      expect(specs[0]).to.equal(file.replace('.ts', '.unit.spec.ts'));
      const isOwn = specs.map((spec) => dirname(spec) === dirname(file));
      expect(isOwn.lastIndexOf(true)).to.equal(isOwn.filter(Boolean).length - 1);
    });

  it('createSpecGraph names specs of other folders, too, and each spec once', () => {
    const specs = specsOf('ledger/log/writer/writer.ts').unit;
    expect(specs).to.include('ledger/log/reader/replay.unit.spec.ts');
    expect(specs.indexOf('services/allocator/health/health.unit.spec.ts')).to.be.above(8);
    expect(new Set(specs).size).to.equal(specs.length);
  });

  it('createSpecGraph names the specs on a real server that are in the folder of a file', () => {
    const { unit, int } = specsOf('ledger/log/store/range-reader.ts');
    expect(int).to.include('ledger/log/store/etcd-ledger.int.spec.ts');
    expect(int).to.not.include('ledger/log/writer/election.int.spec.ts');
    expect(unit.filter((spec) => int.includes(spec))).to.deep.equal([]);
  });
});
