/** The whole path with every part on mutual TLS, etcd too, each part with a certificate of its own. */
import { copyFileSync, readFileSync, renameSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'chai';
import type { RenewedCertificates } from '../../lib/renewal.ts';
import { call, connect } from '../../lib/rpc.ts';
import { openTls, type TlsFiles } from '../../lib/tls.ts';
import { IpamService, LedgerService, SubnetsService } from '../../proto/ipledger.ts';
import { certificateFolder, type CertificateFolder, makeCertificates, subjectsOf } from '../harness/certificates.ts';
import { createNode, type Namespace } from '../harness/network.ts';
import { type Authority, openAuthority, reissue } from '../harness/pki.ts';
import type { Server } from '../harness/server.ts';
import { ipledger, startAllocator, startIndex } from '../harness/services.ts';
import { expectAgreement } from './agreement.ts';
import { eventually } from './eventually.ts';
import { cnitool, createSandbox, itOnMacvlan, linkOf, type Nic, pings } from './sandbox.ts';
import { addressOf, makeNetworkAndSubnet, makePod, openScene, type Scene } from './scene.ts';

interface LoggedEvent {
  readonly type: string;
  readonly actor: string;
  readonly data: { readonly attachment?: { readonly pod: string } };
}

const bearers = { allocators: ['allocator', 'second'], nodes: ['node-1'], operators: ['test'] };

describe('everything on TLS', function () {
  this.timeout(120_000);
  let scene: Scene;
  let node: Namespace | undefined;
  let certificates: CertificateFolder;
  let folder: string;
  let operator: TlsFiles;
  let stranger: TlsFiles;

  before(async () => {
    scene = await openScene({ tls: true });
    folder = join(scene.run.folder, 'certificates');
    await makeCertificates({ folder, ...bearers });
    certificates = certificateFolder(folder);
    operator = certificates.operator('test');
    const elsewhere = join(scene.run.folder, 'elsewhere');
    await makeCertificates({ folder: elsewhere, ...bearers });
    stranger = certificateFolder(elsewhere).operator('test');
    await makeNetworkAndSubnet(scene, 'macvlan', '172.17.0.0/16');
  });
  after(() => scene?.run.end());
  afterEach(() => expectAgreement(scene.stack));

  async function attach(pod: string): Promise<Nic> {
    node ??= await createNode(scene.run, 'node-1');
    const nic = { node, sandbox: await createSandbox(scene.run, pod), pod, network: 'macvlan' };
    const { code, stdout, stderr } = await cnitool(scene, 'add', nic);
    expect(code, `${stdout}${stderr}`).to.equal(0);
    return nic;
  }

  /** Who did what to a Pod, as plain etcdctl reads it. */
  async function actorsOf(pod: string): Promise<string[]> {
    const lines = await scene.stack.etcd.etcdctl(['get', '--prefix', '/ipledger/v1/log/', '--print-value-only']);
    const events = lines
      .trimEnd()
      .split('\n')
      .map((line) => JSON.parse(line) as LoggedEvent);
    return events.filter(({ data }) => data.attachment?.pod === pod).map(({ type, actor }) => `${type} by ${actor}`);
  }

  itOnMacvlan('a Pod gets its address, its link answers, and both go; each event names who did it', async () => {
    await Promise.all([makePod(scene, 'one', 'macvlan'), makePod(scene, 'other', 'macvlan')]);
    const address = await addressOf(scene, 'one', 'macvlan');
    const [one, other] = [await attach('one'), await attach('other')];
    expect((await linkOf(one.sandbox)).addresses).to.deep.equal([`${address}/16`]);
    expect(await pings(other.sandbox, address)).to.be.true;
    for (const nic of [one, other]) expect((await cnitool(scene, 'del', nic)).code).to.equal(0);
    for (const pod of ['one', 'other']) await scene.kubernetes.remove('Pod', pod);
    await eventually(async () =>
      expect(await actorsOf('one')).to.deep.equal([
        'AddressAllocated by ipledger://watcher',
        'AddressBound by ipledger://agent/node-1',
        'AddressUnbound by ipledger://agent/node-1',
        'AddressReleased by ipledger://watcher',
      ]),
    );
  });

  it('a standby passes on what it is asked, and the event names who asked', async () => {
    const { etcd } = scene.stack;
    const second = await startAllocator(scene.run, { etcd, name: 'second', tls: certificates.allocator('second') });
    const connection = connect(second.endpoint, openTls(operator));
    const viewer = connect(second.endpoint, openTls(certificates.viewer));
    const pod = { namespace: 'default', name: 'by-hand', uid: 'by-hand' };
    const attachments = [{ provider: 'macvlan.default', subnets: ['macvlan'] }];
    const release = {
      namespace: 'default',
      pod: 'by-hand',
      podUid: 'by-hand',
      cause: 'RELEASE_CAUSE_OPERATOR',
    } as const;
    try {
      const { allocations } = await call(connection, IpamService.allocate, { pod, attachments }, { timeoutMs: 10_000 });
      expect(allocations).to.have.length(1);
      await call(connection, IpamService.release, release, { timeoutMs: 10_000 });
      const refused: unknown = await call(viewer, IpamService.release, release, { timeoutMs: 10_000 }).catch(
        (e: unknown) => e,
      );
      expect(refused).to.include({ code: 'PERMISSION_DENIED' });
    } finally {
      connection.close();
      viewer.close();
      await second.stop();
    }
    expect((await actorsOf('by-hand'))[0]).to.equal('AddressAllocated by ipledger://operator/test');
  });

  it('the command line tool shows its certificate, and says what is wrong with one', async () => {
    const { allocator } = scene.stack;
    expect((await ipledger(['show'], { allocator, tls: operator })).stdout).to.contain('ledger at epoch 1');
    expect((await ipledger(['show'], { allocator, tls: certificates.viewer })).stdout).to.contain('macvlan');

    for (const [tls, status, message] of [
      [undefined, 3, 'it may speak TLS only: set IPLEDGER_TLS_CA, IPLEDGER_TLS_CERT and IPLEDGER_TLS_KEY'],
      [stranger, 3, 'its certificate is of no authority that is trusted here'],
      [{ ...stranger, ca: operator.ca }, 2, `was issued by none of the authorities in ${operator.ca}`],
      [{ ...operator, key: stranger.key }, 2, `the key in ${stranger.key} is not that of the certificate`],
      [certificates.agent('node-1'), 1, 'ipledger://agent/node-1 may not call /ipledger.v1.Subnets/ListSubnets'],
    ] as const) {
      const { code, stdout, stderr } = await ipledger(['show'], { allocator, ...(tls && { tls }) });
      expect({ code, stdout }, stderr).to.deep.equal({ code: status, stdout: '' });
      expect(stderr)
        .to.contain(message)
        .and.match(/^ipledger: .*\n$/);
    }
  });

  it('the read model shows a certificate of its own, and answers whom the allocator would', async () => {
    const index = await startIndex(scene.run, { allocator: scene.stack.allocator, tls: certificates.index });
    const history = async (tls: TlsFiles, server?: 'index'): Promise<unknown> => {
      const connection = connect(index.endpoint, openTls(tls), server);
      const asked = call(connection, LedgerService.history, {}, { timeoutMs: 10_000 });
      return asked.catch((error: unknown) => error).finally(() => connection.close());
    };
    expect(await history(certificates.viewer, 'index')).to.have.nested.property('events[0].seq');
    expect(await history(certificates.agent('node-1'), 'index')).to.include({ code: 'PERMISSION_DENIED' });
    expect(await history(certificates.viewer))
      .to.have.property('message')
      .that.contains('the server is ipledger://index, and not ipledger://allocator/<id>');
    await index.stop();
  });

  it('turns away who has a certificate of another authority, and trusts ours all the same', async () => {
    const both = join(scene.run.folder, 'both.crt');
    writeFileSync(both, readFileSync(operator.ca, 'utf8') + readFileSync(stranger.ca, 'utf8'));
    const connection = connect(scene.stack.allocator.endpoint, openTls({ ...stranger, ca: both }));
    const asked = call(connection, SubnetsService.listSubnets, {}, { timeoutMs: 10_000 });
    const refused: unknown = await asked.catch((error: unknown) => error);
    connection.close();
    expect(refused)
      .to.include({ code: 'UNAVAILABLE' })
      .and.property('message')
      .contains('does not accept our certificate');
  });

  describe('with certificates that are renewed on disk', () => {
    const parts = (): Server[] => [scene.stack.allocator, scene.stack.watcher, ...scene.stack.agents];
    const linesOf = ({ log }: Server): { level: number; msg: string; file?: string }[] =>
      readFileSync(log, 'utf8')
        .split('\n')
        .filter((line) => line.startsWith('{'))
        .map((line) => JSON.parse(line) as { level: number; msg: string; file?: string });
    /** Of its own certificate; the allocator has another for etcd. */
    const takenUp = (part: Server): number =>
      linesOf(part).filter(({ msg, file }) => msg === 'certificates taken up' && !file?.includes('/etcd/')).length;

    /** Of those who call without pause, here. */
    let tls: RenewedCertificates;

    /** Changes files, and waits until every part has taken them up, and we. */
    async function renew(change: () => Promise<void> | void): Promise<void> {
      const before = parts().map(takenUp);
      await change();
      await eventually(() => {
        for (const part of ['ca', 'cert', 'key'] as const)
          expect(tls.current[part].equals(readFileSync(operator[part])), `our ${part}`).to.be.true;
        for (const [index, part] of parts().entries())
          expect(takenUp(part), `${part.name} has taken nothing up`).to.be.above(before[index] ?? 0);
      });
    }

    const trust = (...authorities: readonly Authority[]): void => {
      const bundle = join(folder, 'ca.crt');
      writeFileSync(`${bundle}.new`, authorities.map(({ cert }) => readFileSync(cert, 'utf8')).join(''));
      renameSync(`${bundle}.new`, bundle);
    };

    /** Calls without pause, on a connection that stands and each on one of its own; gives what went wrong. */
    async function underLoad(work: () => Promise<void>): Promise<{ answered: number; failed: string[] }> {
      const { endpoint } = scene.stack.allocator;
      const result = { answered: 0, failed: [] as string[] };
      const over = new AbortController();
      tls = openTls(operator);
      const standing = connect(endpoint, tls);
      const onFresh = async (): Promise<void> => {
        const connection = connect(endpoint, tls);
        await call(connection, SubnetsService.listSubnets, {}, { timeoutMs: 10_000 }).finally(() => connection.close());
      };
      const onStanding = () => call(standing, IpamService.list, {}, { timeoutMs: 10_000 });
      const keep = async (once: () => Promise<unknown>): Promise<void> => {
        while (!over.signal.aborted)
          await once().then(
            () => result.answered++,
            (error: unknown) => result.failed.push(String(error)),
          );
      };
      const loops = [onStanding, onFresh].map(keep);
      try {
        await work();
      } finally {
        over.abort();
        await Promise.all(loops);
        standing.close();
      }
      return result;
    }

    it('no call fails, and every part goes on with the new ones, of a new authority', async () => {
      const quiet = parts().map((part) => linesOf(part).length);
      // What `make certs` wrote is an authority of its own, and the list of those that are trusted.
      const old: Authority = { folder, cert: join(scene.run.folder, 'old.crt'), key: join(folder, 'ca.key') };
      const outdated: TlsFiles = {
        ca: old.cert,
        cert: join(scene.run.folder, 'o.crt'),
        key: join(scene.run.folder, 'o.key'),
      };
      for (const part of ['ca', 'cert', 'key'] as const) copyFileSync(operator[part], outdated[part]);
      const next = await openAuthority(join(scene.run.folder, 'next'), 'the next authority');
      const { answered, failed } = await underLoad(async () => {
        await renew(async () => void (await makeCertificates({ folder, ...bearers, renew: true })));
        await makePod(scene, 'renewed', 'macvlan');
        await addressOf(scene, 'renewed', 'macvlan');
        await renew(() => trust(old, next));
        await renew(async () => {
          for (const subject of subjectsOf(bearers)) {
            const path = join(folder, subject.name);
            await reissue(next, subject, { cert: `${path}.crt`, key: `${path}.key` });
          }
        });
        await renew(() => trust(next));
      });
      expect(failed).to.deep.equal([]);
      expect(answered).to.be.above(0);
      for (const [index, part] of parts().entries()) {
        const complaints = linesOf(part)
          .slice(quiet[index])
          .filter(({ level, msg }) => level >= 40 && !msg.includes('not taken up'));
        expect(complaints, part.name).to.deep.equal([]);
      }

      // Nobody but the allocator is started anew: the others come back to it, and it to etcd, with what they took up.
      await scene.stack.allocator.restart();
      await makePod(scene, 'later', 'macvlan');
      await addressOf(scene, 'later', 'macvlan');
      expect((await actorsOf('later'))[0]).to.equal('AddressAllocated by ipledger://watcher');
      const late = await ipledger(['show'], { allocator: scene.stack.allocator, tls: outdated });
      expect(late.stderr).to.contain('its certificate is of no authority that is trusted here');
    });

    itOnMacvlan('nor does an ADD, by an agent that was never started anew', async () => {
      const { sandbox } = await attach('later');
      expect((await linkOf(sandbox)).addresses).to.deep.equal([`${await addressOf(scene, 'later', 'macvlan')}/16`]);
    });
  });
});
