import { expect } from 'chai';
import { FakeInformer, mirrorOf, podNamed } from '../testing/fakes.ts';
import type { Pod } from './objects/pod.ts';
import { PodsByNode } from './pods-by-node.ts';

describe('Pods by node', () => {
  it('Pods by node counts the Pods that were scheduled to a node and have not ended, without mirrors', () => {
    const pods = new FakeInformer<Pod>();
    const byNode = new PodsByNode(pods);
    const has = (): boolean => byNode.has('node-1', 'default');
    const on = (node: string, phase = 'Running') => podNamed('a', { spec: { nodeName: node }, status: { phase } });
    pods.put(mirrorOf('static', 'a'.repeat(32)));
    pods.put(podNamed('a'));
    expect(has()).to.equal(false);
    pods.put(on('node-1'));
    expect([has(), byNode.has('node-1', 'other'), byNode.has('node-2', 'default')]).to.deep.equal([true, false, false]);
    pods.put(on('node-1', 'Succeeded'));
    expect(has()).to.equal(false);
    pods.put(on('node-1'));
    pods.put({ ...on('node-1'), name: 'b' });
    pods.drop(on('node-1'));
    expect(has()).to.equal(true);
    pods.drop({ ...on('node-1'), name: 'b' });
    expect(has()).to.equal(false);
  });
});
