import { expect } from 'chai';
import { type Content, type ContentStore, readStableContent, restoreContent } from './cluster-content.ts';

const node = '/registry/minions/node-1';
const value = Buffer.from('node');
const pristine: Content = new Map([[node, value]]);

/** Objects in memory. `onRead` and `onPut` are the controllers that react. */
function storeOf(content: Map<string, Buffer>, react: { onRead?: () => void; onPut?: () => void } = {}): ContentStore {
  return {
    read: () => {
      react.onRead?.();
      return Promise.resolve(new Map(content));
    },
    put: (key, bytes) => {
      content.set(key, bytes);
      react.onPut?.();
      return Promise.resolve();
    },
    delete: (key) => Promise.resolve(content.delete(key)),
  };
}

describe('The content of a shared cluster', () => {
  it('The content of a shared cluster is read when no controller writes any more, also when the number of keys stays the same', async () => {
    const content = new Map(pristine);
    let reads = 0;
    const onRead = (): void => {
      reads += 1;
      if (reads < 8) content.set(node, Buffer.from(`annotation ${reads}`));
    };
    const stable = await readStableContent(storeOf(content, { onRead }), 0);
    expect(stable.get(node)?.toString()).to.equal('annotation 7');
  });

  it('The content of a shared cluster is restored: added keys are deleted, changed and deleted keys are written', async () => {
    const content = new Map([
      [node, Buffer.from('changed')],
      ['/registry/pods/default/web', Buffer.from('pod')],
    ]);
    expect(await restoreContent(storeOf(content), pristine, 0)).to.equal(true);
    expect(content).to.deep.equal(pristine);
  });

  it('The content of a shared cluster is restored again while a controller reacts to the restore', async () => {
    const content = new Map([[node, Buffer.from('changed')]]);
    let reactions = 3;
    const onPut = (): void => {
      reactions -= 1;
      if (reactions > 0) content.set(node, Buffer.from('taint'));
    };
    expect(await restoreContent(storeOf(content, { onPut }), pristine, 0)).to.equal(true);
    expect(content).to.deep.equal(pristine);
  });

  it('The content of a shared cluster is given up when a controller writes after each restore', async () => {
    const content = new Map([[node, Buffer.from('changed')]]);
    const onPut = (): void => void content.set(node, Buffer.from('annotation'));
    expect(await restoreContent(storeOf(content, { onPut }), pristine, 0)).to.equal(false);
  });

  it('The content of a shared cluster is not restored after a change of a CustomResourceDefinition', async () => {
    const content = new Map(pristine).set('/registry/apiextensions.k8s.io/customresourcedefinitions/x', value);
    expect(await restoreContent(storeOf(content), pristine, 0)).to.equal(false);
  });
});
