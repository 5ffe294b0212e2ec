import { expect } from 'chai';
import { pino } from 'pino';
import { ApiError } from '../../../lib/kubernetes/client/api-error.ts';
import type { Pod } from '../kubernetes/objects/pod.ts';
import type { HeldAllocation } from '../ledger/ledger-events.ts';
import { heldAllocation, launcher, podNamed, until } from '../testing/fakes.ts';
import { createProjectionWorld, podAt } from './testing/projection.fixture.ts';

describe('A write that the API server rejects', () => {
  let stop: AbortController;
  beforeEach(() => (stop = new AbortController()));
  afterEach(() => stop.abort());

  const world = (
    allocations: readonly HeldAllocation[],
    options: Parameters<typeof createProjectionWorld>[2] = {},
  ): ReturnType<typeof createProjectionWorld> => createProjectionWorld(stop.signal, allocations, options);

  it('a rejected write costs only the annotation of an interface that cannot end a key, and is reported in an Event', async () => {
    const held = ['', 'up-'].map((name, ordinal) =>
      heldAllocation('a', { seq: 7 + ordinal, ordinal, interface: name }),
    );
    const { api, pods, recorded, projection, addPod, quiet } = world(held);
    addPod(podNamed('a'));
    projection.start();
    await until(() => api.writes.includes(`PATCH ${podAt('a')}`));
    pods.put({ ...(pods.objects.get('default/a') as Pod), node: 'node-1' });
    await quiet();
    expect(pods.objects.get('default/a')?.annotations).to.include({
      'macvlan.default.kubernetes.io/allocated': 'true',
    });
    expect(recorded.map(({ event }) => event.reason)).to.deep.equal(['AnnotationNotPossible']);
    expect(recorded[0]?.event.message).to.contain('macvlan.default.kubernetes.io/ip_address.up-');
  });

  for (const status of [422, 403])
    it(`a rejected write with status ${status} costs no annotation of another network`, async () => {
      const held = [heldAllocation('a'), heldAllocation('a', { seq: 8, provider: 'refused.default' })];
      const { api, pods, recorded, projection, addPod } = world(held);
      addPod(podNamed('a'));
      api.failRequest = ({ path, body }) =>
        path === podAt('a') && JSON.stringify(body).includes('refused.default')
          ? new ApiError(status, 'a policy denies that')
          : undefined;
      projection.start();
      await until(() => recorded.length > 0);
      expect(pods.objects.get('default/a')?.annotations).to.include({
        'macvlan.default.kubernetes.io/ip_address': '10.0.0.2',
      });
      expect(recorded[0]?.event.reason).to.equal('AnnotationRejected');
      expect(recorded[0]?.event.message).to.contain('a policy denies that').and.not.contain('macvlan.default');
      api.failRequest = undefined;
      await until(
        () => 'refused.default.kubernetes.io/allocated' in (pods.objects.get('default/a')?.annotations ?? {}),
      );
    });

  for (const [refused, other] of [
    ['a', 'b'],
    ['b', 'a'],
  ] as const)
    it(`a rejected write to launcher ${refused} of a machine costs launcher ${other} no annotation`, async () => {
      const { api, pods, projection, addPod } = world([heldAllocation('vm1')]);
      for (const suffix of ['a', 'b']) {
        addPod(launcher(suffix));
        pods.put(launcher(suffix));
      }
      api.failRequest = ({ path }) =>
        path === podAt(`virt-launcher-vm1-${refused}`) ? new ApiError(422, 'refused') : undefined;
      projection.start();
      const annotated = `default/virt-launcher-vm1-${other}`;
      await until(() => pods.objects.get(annotated)?.annotations['macvlan.default.kubernetes.io/allocated'] === 'true');
    });

  it('a write that the API server rejects for many objects is logged once, and repeated until it is accepted', async () => {
    const allocations = Array.from({ length: 30 }, (_, index) => heldAllocation(`p${index}`, { seq: index + 1 }));
    const lines: string[] = [];
    const { api, projection, addPod } = world(allocations, { log: pino({}, { write: (line) => lines.push(line) }) });
    for (const { pod } of allocations) addPod(podNamed(pod));
    let requestedSeqs = 0;
    api.failRequest = ({ path }) =>
      path.includes('/ips') && ++requestedSeqs <= 60 ? new ApiError(403, 'forbidden') : undefined;
    projection.start();
    await until(() => api.writes.length === 60);
    expect(lines.map((line) => (JSON.parse(line) as { msg: string }).msg)).to.deep.equal([
      'projection: the API server rejected a write',
    ]);
  });
});
