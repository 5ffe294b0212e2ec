import { expect } from 'chai';
import type { UntypedJson } from '../../lib/kubernetes/untyped-json.ts';
import { readSandboxFailures } from './read-sandbox-failures.ts';

const now = Date.parse('2026-01-31T08:00:00Z');
const failure = 'plugin type="multus" failed (add): error adding container to network "lan": Link not found';
const eventOf = (name: string, minutesAgo: number, message = failure): UntypedJson => ({
  involvedObject: { kind: 'Pod', namespace: 'default', name, uid: name },
  reason: 'FailedCreatePodSandBox',
  message,
  source: { host: 'node-1' },
  lastTimestamp: new Date(now - minutesAgo * 60_000).toISOString(),
});
const podOf = (name: string, phase = 'Pending', annotations: object = { 'k8s.v1.cni.cncf.io/networks': 'lan' }) => ({
  metadata: { namespace: 'default', name, uid: name, annotations },
  spec: { nodeName: 'node-1' },
  status: { phase },
});

async function find(events: UntypedJson[], pods: UntypedJson[]) {
  const paths: string[] = [];
  const kubernetes = {
    list: (path: string) => {
      paths.push(path);
      return Promise.resolve(events);
    },
    get: (path: string) => {
      paths.push(path);
      return Promise.resolve(
        pods.find(({ metadata }) => path.endsWith(`/pods/${(metadata as { name: string }).name}`)),
      );
    },
  };
  return { paths, found: await readSandboxFailures(kubernetes, now) };
}

describe('Sandboxes that cannot be created', () => {
  it('Sandboxes that cannot be created are those of Pods that still wait, with the newest error', async () => {
    const { paths, found } = await find([eventOf('web', 3, 'earlier'), eventOf('web', 1)], [podOf('web')]);
    expect(paths[0]).to.equal('/api/v1/events?fieldSelector=reason%3DFailedCreatePodSandBox');
    expect(found).to.deep.equal([{ pod: 'default/web', node: 'node-1', message: failure }]);
  });

  it('Sandboxes that cannot be created are none of old Events, of Pods that run, were deleted or made again, and of Pods without such a network', async () => {
    const again = podOf('again');
    const pods = [podOf('runs', 'Running'), podOf('plain', 'Pending', {}), podOf('old')];
    const others = [...pods, { ...again, metadata: { ...again.metadata, uid: 'other' } }];
    const events = [
      eventOf('runs', 1),
      eventOf('plain', 1),
      eventOf('old', 60),
      eventOf('gone', 1),
      eventOf('again', 1),
    ];
    expect((await find(events, others)).found).to.deep.equal([]);
  });

  it('Sandboxes that cannot be created are limited: the newest Pods are looked at', async () => {
    const names = Array.from({ length: 500 }, (_, index) => `p-${index}`);
    const { paths, found } = await find(
      names.map((name, index) => eventOf(name, index / 100)),
      names.map((name) => podOf(name)),
    );
    expect(found).to.have.length(50);
    expect(paths).to.have.length(51);
    expect(found[0]?.pod).to.equal('default/p-0');
  });
});
