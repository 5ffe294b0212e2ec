import { expect } from 'chai';
import { compareVersions, describeRange, isWithin, parseVersion, type Version } from './version.ts';

describe('A version', () => {
  const outputs: [string, Version | undefined][] = [
    ['etcd Version: 3.7.3\nGit SHA: …\nGo Version: go1.26.8', [3, 7]],
    ['Kubernetes v1.36.3', [1, 36]],
    ['Client Version: v1.32.4-dispatcher\nKustomize Version: v5.5.0', [1, 32]],
    ['3.10', [3, 10]],
    ['no version at all', undefined],
  ];
  for (const [output, version] of outputs)
    it(`A version is ${version?.join('.') ?? 'undefined'} in ${JSON.stringify(output.split('\n')[0])}`, () => {
      expect(parseVersion(output)).to.deep.equal(version);
    });

  it('A version is compared by numbers: 3.10 is later than 3.6', () => {
    expect(compareVersions([3, 10], [3, 6])).to.be.above(0);
    expect(compareVersions([2, 9], [3, 0])).to.be.below(0);
    expect(compareVersions([3, 6], [3, 6])).to.equal(0);
  });

  it('A version is in a range that includes its start and excludes its end', () => {
    const range = { from: [1, 36], below: [1, 37] } as const;
    expect(isWithin([1, 36], range)).to.be.true;
    expect(isWithin([1, 35], range)).to.be.false;
    expect(isWithin([1, 37], range)).to.be.false;
    expect(isWithin([9, 0], { from: [3, 6] })).to.be.true;
  });

  it('A version is described in messages by the first and last release of its range', () => {
    expect(describeRange({ from: [3, 6] })).to.equal('3.6 or later');
    expect(describeRange({ from: [1, 36], below: [1, 37] })).to.equal('1.36');
    expect(describeRange({ from: [1, 35], below: [1, 38] })).to.equal('1.35 to 1.37');
  });
});
