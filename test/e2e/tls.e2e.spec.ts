/**
 * Tests the life of a Pod with mutual TLS between all programs and etcd. Each program has its own
 * certificate.
 */
import { copyFileSync, readFileSync, renameSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'chai';
import type { CertificateReloader } from '../../lib/tls/certificate-reloader.ts';
import { call, connect } from '../../lib/grpc/client.ts';
import { loadTls, type TlsFiles } from '../../lib/tls/credentials.ts';
import { IpamService, LedgerService, SubnetsService } from '../../proto/generated/ipledger.ts';
import {
  certificateFolder,
  type CertificateFolder,
  makeCertificates,
  subjectsOf,
} from '../harness/certificates/certificates.ts';
import { createNodeNamespace, type Namespace } from '../harness/network/network-namespaces.ts';
import { type Authority, openAuthority, reissueCertificate } from '../harness/certificates/certificate-authority.ts';
import type { Server } from '../harness/processes/server.ts';
import { startAllocator, startReadModel } from '../harness/services.ts';
import { runIpledger } from '../harness/ipledger-cli.ts';
import { expectConsistency } from './support/consistency.ts';
import { eventually } from './support/eventually.ts';
import { cnitool, createSandbox, itOnMacvlan, readLink, type Nic, canPing } from './support/sandbox.ts';
import {
  waitForAddress,
  makeNetworkAndSubnet,
  makePod,
  openTestEnvironment,
  type TestEnvironment,
} from './support/test-environment.ts';

interface LoggedEvent {
  readonly type: string;
  readonly actor: string;
  readonly data: { readonly attachment?: { readonly pod: string } };
}

const subjects = { allocators: ['allocator', 'second'], nodes: ['node-1'], operators: ['test'] };

describe('mutual TLS', function () {
  this.timeout(180_000);
  let scene: TestEnvironment;
  let node: Namespace | undefined;
  let certificates: CertificateFolder;
  let folder: string;
  let operator: TlsFiles;
  let foreignOperator: TlsFiles;

  before(async () => {
    scene = await openTestEnvironment({ tls: true });
    folder = join(scene.run.folder, 'certificates');
    await makeCertificates({ folder, ...subjects });
    certificates = certificateFolder(folder);
    operator = certificates.operator('test');
    const foreignFolder = join(scene.run.folder, 'foreign');
    await makeCertificates({ folder: foreignFolder, ...subjects });
    foreignOperator = certificateFolder(foreignFolder).operator('test');
    await makeNetworkAndSubnet(scene, 'macvlan', '172.17.0.0/16');
  });
  after(() => scene?.run.end());
  afterEach(() => expectConsistency(scene.stack));

  async function attach(pod: string): Promise<Nic> {
    node ??= await createNodeNamespace(scene.run, 'node-1');
    const nic = { node, sandbox: await createSandbox(scene.run, pod), pod, network: 'macvlan' };
    const { code, stdout, stderr } = await cnitool(scene, 'add', nic);
    expect(code, `${stdout}${stderr}`).to.equal(0);
    return nic;
  }

  /** Reads the events of a Pod with their actors by etcdctl. */
  async function actorsOf(pod: string): Promise<string[]> {
    const lines = await scene.stack.etcd.etcdctl(['get', '--prefix', '/ipledger/v1/log/', '--print-value-only']);
    const events = lines
      .trimEnd()
      .split('\n')
      .map((line) => JSON.parse(line) as LoggedEvent);
    return events.filter(({ data }) => data.attachment?.pod === pod).map(({ type, actor }) => `${type} by ${actor}`);
  }

  itOnMacvlan('a Pod gets its address on a link, and releases it; each event names its actor', async () => {
    await Promise.all([makePod(scene, 'one', 'macvlan'), makePod(scene, 'other', 'macvlan')]);
    const address = await waitForAddress(scene, 'one', 'macvlan');
    const [one, other] = [await attach('one'), await attach('other')];
    expect((await readLink(one.sandbox)).addresses).to.deep.equal([`${address}/16`]);
    expect(await canPing(other.sandbox, address)).to.be.true;
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

  it('a standby forwards a request, and the event names the caller', async () => {
    const { etcd } = scene.stack;
    const second = await startAllocator(scene.run, { etcd, name: 'second', tls: certificates.allocator('second') });
    const connection = connect(second.endpoint, loadTls(operator));
    const viewer = connect(second.endpoint, loadTls(certificates.viewer));
    const pod = { namespace: 'default', name: 'forwarded', uid: 'forwarded' };
    const attachments = [{ provider: 'macvlan.default', subnets: ['macvlan'] }];
    const release = {
      namespace: 'default',
      pod: 'forwarded',
      podUid: 'forwarded',
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
    expect((await actorsOf('forwarded'))[0]).to.equal('AddressAllocated by ipledger://operator/test');
  });

  it('the CLI presents its certificate, and reports a rejected certificate with the reason', async () => {
    const { allocator } = scene.stack;
    expect((await runIpledger(['subnets'], { allocator, tls: operator })).stdout).to.contain('ledger at epoch 1');
    expect((await runIpledger(['subnets'], { allocator, tls: certificates.viewer })).stdout).to.contain('macvlan');

    for (const [tls, status, message] of [
      [undefined, 3, 'it may speak TLS only: set IPLEDGER_TLS_CA, IPLEDGER_TLS_CERT and IPLEDGER_TLS_KEY'],
      [foreignOperator, 3, 'its certificate is of no authority that is trusted here'],
      [{ ...foreignOperator, ca: operator.ca }, 2, `was issued by none of the authorities in ${operator.ca}`],
      [
        { ...operator, key: foreignOperator.key },
        2,
        `the key in ${foreignOperator.key} is not that of the certificate`,
      ],
      [certificates.agent('node-1'), 1, 'ipledger://agent/node-1 may not call /ipledger.v1.Subnets/ListSubnets'],
    ] as const) {
      const { code, stdout, stderr } = await runIpledger(['subnets'], { allocator, ...(tls && { tls }) });
      expect({ code, stdout }, stderr).to.deep.equal({ code: status, stdout: '' });
      expect(stderr)
        .to.contain(message)
        .and.match(/^ipledger: .*\n$/);
    }
  });

  it('the read model presents its own certificate, and has the same permissions as the allocator', async () => {
    const readModel = await startReadModel(scene.run, {
      allocator: scene.stack.allocator,
      tls: certificates.readModel,
    });
    const history = async (tls: TlsFiles, server?: 'read-model'): Promise<unknown> => {
      const connection = connect(readModel.endpoint, loadTls(tls), server);
      const reply = call(connection, LedgerService.history, {}, { timeoutMs: 10_000 });
      return reply.catch((error: unknown) => error).finally(() => connection.close());
    };
    expect(await history(certificates.viewer, 'read-model')).to.have.nested.property('events[0].seq');
    expect(await history(certificates.agent('node-1'), 'read-model')).to.include({ code: 'PERMISSION_DENIED' });
    expect(await history(certificates.viewer))
      .to.have.property('message')
      .that.contains('the server is ipledger://read-model, and not ipledger://allocator/<id>');
    await readModel.stop();
  });

  it('the allocator rejects a client with a certificate of another authority', async () => {
    const both = join(scene.run.folder, 'both.crt');
    writeFileSync(both, readFileSync(operator.ca, 'utf8') + readFileSync(foreignOperator.ca, 'utf8'));
    const connection = connect(scene.stack.allocator.endpoint, loadTls({ ...foreignOperator, ca: both }));
    const reply = call(connection, SubnetsService.listSubnets, {}, { timeoutMs: 10_000 });
    const refused: unknown = await reply.catch((error: unknown) => error);
    connection.close();
    expect(refused)
      .to.include({ code: 'UNAVAILABLE' })
      .and.property('message')
      .contains('may not accept our certificate');
  });

  describe('with certificates that are renewed on disk', () => {
    const programs = (): Server[] => [scene.stack.allocator, scene.stack.watcher, ...scene.stack.agents];
    const linesOf = ({ log }: Server): { level: number; msg: string; file?: string }[] =>
      readFileSync(log, 'utf8')
        .split('\n')
        .filter((line) => line.startsWith('{'))
        .map((line) => JSON.parse(line) as { level: number; msg: string; file?: string });
    /** Returns how often a program reloaded its certificate. The allocator has two. */
    const countReloads = (program: Server): number =>
      linesOf(program).filter(({ msg, file }) => msg === 'certificates installed' && !file?.includes('/etcd/')).length;

    /** The credentials of the clients in this test. */
    let tls: CertificateReloader;

    /** Changes files, and waits until all programs and this test have loaded them. */
    async function renew(change: () => Promise<void> | void): Promise<void> {
      const before = programs().map(countReloads);
      await change();
      await eventually(() => {
        for (const part of ['ca', 'cert', 'key'] as const)
          expect(tls.current[part].equals(readFileSync(operator[part])), `our ${part}`).to.be.true;
        for (const [index, program] of programs().entries())
          expect(countReloads(program), `${program.name} has not reloaded`).to.be.above(before[index] ?? 0);
      });
    }

    const trust = (...authorities: readonly Authority[]): void => {
      const bundle = join(folder, 'ca.crt');
      writeFileSync(`${bundle}.new`, authorities.map(({ cert }) => readFileSync(cert, 'utf8')).join(''));
      renameSync(`${bundle}.new`, bundle);
    };

    /**
     * Runs `work` during continuous calls, on one lasting connection and on new ones. Returns the
     * failed calls.
     */
    async function runUnderLoad(work: () => Promise<void>): Promise<{ answered: number; failed: string[] }> {
      const { endpoint } = scene.stack.allocator;
      const result = { answered: 0, failed: [] as string[] };
      const done = new AbortController();
      tls = loadTls(operator);
      const lasting = connect(endpoint, tls);
      const callOnNew = async (): Promise<void> => {
        const connection = connect(endpoint, tls);
        await call(connection, SubnetsService.listSubnets, {}, { timeoutMs: 10_000 }).finally(() => connection.close());
      };
      const callOnLasting = () => call(lasting, IpamService.listAllocations, {}, { timeoutMs: 10_000 });
      const repeat = async (request: () => Promise<unknown>): Promise<void> => {
        while (!done.signal.aborted)
          await request().then(
            () => result.answered++,
            (error: unknown) => result.failed.push(String(error)),
          );
      };
      const loops = [callOnLasting, callOnNew].map(repeat);
      try {
        await work();
      } finally {
        done.abort();
        await Promise.all(loops);
        lasting.close();
      }
      return result;
    }

    it('no call fails while certificates are renewed on disk, and all programs use those of a new authority', async () => {
      const logLengths = programs().map((program) => linesOf(program).length);
      // Keeps the old authority, which `make certs` replaces, with the trusted list.
      const oldAuthority: Authority = { folder, cert: join(scene.run.folder, 'old.crt'), key: join(folder, 'ca.key') };
      const outdated: TlsFiles = {
        ca: oldAuthority.cert,
        cert: join(scene.run.folder, 'o.crt'),
        key: join(scene.run.folder, 'o.key'),
      };
      for (const part of ['ca', 'cert', 'key'] as const) copyFileSync(operator[part], outdated[part]);
      const next = await openAuthority(join(scene.run.folder, 'next'), 'the next authority');
      const { answered, failed } = await runUnderLoad(async () => {
        await renew(async () => void (await makeCertificates({ folder, ...subjects, renew: true })));
        await makePod(scene, 'renewed', 'macvlan');
        await waitForAddress(scene, 'renewed', 'macvlan');
        await renew(() => trust(oldAuthority, next));
        await renew(async () => {
          for (const subject of subjectsOf(subjects)) {
            const path = join(folder, subject.name);
            await reissueCertificate(next, subject, { cert: `${path}.crt`, key: `${path}.key` });
          }
        });
        await renew(() => trust(next));
      });
      expect(failed).to.deep.equal([]);
      expect(answered).to.be.above(0);
      for (const [index, program] of programs().entries()) {
        const warnings = linesOf(program)
          .slice(logLengths[index])
          .filter(({ level, msg }) => level >= 40 && !msg.includes('not installed'));
        expect(warnings, program.name).to.deep.equal([]);
      }

      // Restarts only the allocator. The others reconnect to it, and the allocator to etcd, with
      // reloaded certificates.
      await scene.stack.allocator.restart();
      await makePod(scene, 'later', 'macvlan');
      await waitForAddress(scene, 'later', 'macvlan');
      expect((await actorsOf('later'))[0]).to.equal('AddressAllocated by ipledger://watcher');
      const late = await runIpledger(['subnets'], { allocator: scene.stack.allocator, tls: outdated });
      expect(late.stderr).to.contain('its certificate is of no authority that is trusted here');
    });

    itOnMacvlan('an ADD succeeds with renewed certificates through an agent that was not restarted', async () => {
      const { sandbox } = await attach('later');
      expect((await readLink(sandbox)).addresses).to.deep.equal([
        `${await waitForAddress(scene, 'later', 'macvlan')}/16`,
      ]);
    });
  });
});
