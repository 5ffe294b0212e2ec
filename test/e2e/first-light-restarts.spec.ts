/** Each part may be killed and started again: nothing is lost, nothing is given twice, and whoever waited goes on. */
import { readdirSync, readFileSync } from 'node:fs';
import { dirname } from 'node:path';
import { expect } from 'chai';
import type { CniAnswer } from '../harness/cni.ts';
import { expectAgreement } from './agreement.ts';
import { eventually } from './eventually.ts';
import { takePicture } from './picture.ts';
import { addressesIn, plugin } from './plugin.ts';
import { addressOf, eventOf, makeNetworkAndSubnet, makePod, openScene, type Scene } from './scene.ts';

const ip = 'lan.default.kubernetes.io/ip_address';

describe('first light: restarts', function () {
  this.timeout(120_000);
  let scene: Scene;
  before(async () => {
    scene = await openScene();
    await makeNetworkAndSubnet(scene, 'lan', '10.8.0.0/24');
    for (const pod of ['stays', 'goes', 'returns']) await makePod(scene, pod, 'lan');
    for (const pod of ['stays', 'goes', 'returns']) await addressOf(scene, pod, 'lan');
  });
  after(() => scene?.run.end());
  afterEach(() => expectAgreement(scene.stack));

  const add = (pod: string): Promise<CniAnswer> => plugin(scene, { pod, network: 'lan' });

  it('the allocator: a DEL that was left meanwhile does not end the binding of an ADD that came after it', async () => {
    const [agent] = scene.stack.agents;
    const left = (): string[] => readdirSync(`${agent.socket.replace(/\.sock$/, '')}-journal`);
    expect((await add('stays')).code).to.equal(0);
    await scene.stack.allocator.kill();
    expect((await plugin(scene, { pod: 'stays', network: 'lan', command: 'DEL' })).code).to.equal(0);
    expect(left()).to.have.length(1);
    await scene.stack.allocator.start();
    expect((await add('stays')).code).to.equal(0);
    await eventually(() => expect(left()).to.deep.equal([]));
    const { allocations } = await takePicture(scene.stack, scene.run.signal);
    expect(allocations.find(({ attachment }) => attachment?.pod === 'stays')?.bindings).to.have.length(1);
  });

  it('KO-1769 the watcher: Pods that came and went meanwhile get and give back', async () => {
    const kept = await addressOf(scene, 'stays', 'lan');
    await scene.stack.watcher.kill();
    await scene.kubernetes.remove('Pod', 'goes');
    await scene.kubernetes.remove('Pod', 'returns');
    await makePod(scene, 'returns', 'lan');
    await makePod(scene, 'comes', 'lan');
    await scene.stack.watcher.start();
    await Promise.all(['comes', 'returns'].map((pod) => addressOf(scene, pod, 'lan')));
    expect(await addressOf(scene, 'stays', 'lan')).to.equal(kept);
    await eventually(async () => {
      const names = (await scene.kubernetes.list('IP')).map(({ metadata }) => metadata.name);
      expect(names).to.have.members(['stays', 'returns', 'comes'].map((pod) => `${pod}.default.lan.default`));
    });
  });

  it('the allocator: an ADD that waits is answered by the new one, which knows what the old one gave', async () => {
    await scene.stack.allocator.kill();
    await makePod(scene, 'patient', 'lan');
    const [waiting, known] = [add('patient'), add('stays')];
    await scene.stack.allocator.start();
    expect(addressesIn(await known)).to.deep.equal([`${await addressOf(scene, 'stays', 'lan')}/24`]);
    expect(addressesIn(await waiting)).to.deep.equal([`${await addressOf(scene, 'patient', 'lan')}/24`]);
  });

  it('etcd: an ADD that waits is answered once it is back', async () => {
    await scene.stack.etcd.kill();
    await makePod(scene, 'enduring', 'lan');
    const waiting = add('enduring');
    await scene.stack.etcd.start();
    expect(addressesIn(await waiting)).to.deep.equal([`${await addressOf(scene, 'enduring', 'lan')}/24`]);
  });

  it('the agent: a waiting ADD is told to try again, also when the agent is killed; the next try succeeds', async () => {
    const [agent] = scene.stack.agents;
    await makePod(scene, 'blocker', 'lan', { [ip]: '10.8.0.50' });
    await addressOf(scene, 'blocker', 'lan');
    await makePod(scene, 'blocked', 'lan', { [ip]: '10.8.0.50' });
    await eventOf(scene, 'blocked', 'AcquireAddressFailed', /default\/blocker/);

    const told = await waitingWhile(() => agent.stop());
    expect(told.result).to.include({ code: 11, msg: 'RPC failed' });
    expect(told.stdout).to.contain('request ip return 500 the node agent is being stopped: try again');
    await agent.start();

    const cut = await waitingWhile(() => agent.kill());
    expect(cut.result).to.include({ code: 11, msg: 'RPC failed' });
    expect(cut.stdout).to.match(/request ip: no HTTP answer: .*EOF/);
    await agent.start();

    await scene.kubernetes.remove('Pod', 'blocker');
    await addressOf(scene, 'blocked', 'lan');
    expect(addressesIn(await add('blocked'))).to.deep.equal(['10.8.0.50/24']);
  });

  /** The answer to an ADD for Pod `blocked`, during which something is done to the agent. */
  async function waitingWhile(happening: () => Promise<void>): Promise<CniAnswer> {
    const answer = add('blocked');
    // The kernel lists the agent's end of each connection beside its listening socket, all by the path it was bound at.
    const folder = dirname(scene.stack.agents[0].socket);
    const open = (): number => readFileSync('/proc/net/unix', 'utf8').split(` ${folder}/`).length - 1;
    await eventually(() => expect(open()).to.equal(2));
    // An answer to who came later: the agent has read what came before.
    expect((await plugin(scene, { pod: 'nobody', network: 'lan' })).result).to.have.property('code', 11);
    await happening();
    return answer;
  }
});
