/**
 * Tests the permission table: every RPC with every identity, over real connections with real
 * certificates.
 */
import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { ChannelCredentials, Client, Metadata, type Server, type ServiceError, status } from '@grpc/grpc-js';
import { expect } from 'chai';
import { HealthImplementation } from 'grpc-health-check';
import { errorCodeMetadata } from '../../../lib/errors.ts';
import { type CertificateKind, identityKinds } from '../../../lib/tls/identity.ts';
import { call, connect, type Connection, stream } from '../../../lib/grpc/client.ts';
import { clientCredentials, loadTls, serverCredentials, type Tls } from '../../../lib/tls/credentials.ts';
import type { MessageInput, Method } from '../../../proto/codec.ts';
import { IpamService, LedgerService, SubnetsService, ViewsService } from '../../../proto/generated/ipledger.ts';
import {
  type Authority,
  issueCertificate,
  openAuthority,
} from '../../../test/harness/certificates/certificate-authority.ts';
import { failureOf, never, silentLog } from '../../../ledger/log/testing/running-writer.ts';
import { onBehalfOfKey } from '../../../lib/grpc/server/authorization.ts';
import { createServer } from '../../../lib/grpc/server/create-server.ts';
import { permissions } from '../../../lib/grpc/server/permissions.ts';
import { addGrpcService } from '../../../lib/grpc/server/serve.ts';
import { listenOnLoopback } from '../../../lib/grpc/testing/grpc-test-server.ts';
import { addReflection } from '../../../lib/grpc/server/reflection.ts';
import { addServices } from '../api-server.ts';
import {
  applyMacvlan,
  allocateRequest,
  sandboxOf,
  type ServedAllocator,
  serveAllocator,
} from './testing/served-allocator.ts';

const table = `
  ipledger.v1.Ipam            agent     allocator operator ovn-projector read-model viewer watcher
  Allocate                    -         -         yes      -             -          -      no import
  Release                     -         -         yes      -             -          -      yes
  Wait                        its node  -         -        -             -          -      -
  Attach                      its node  -         -        -             -          -      -
  Bind                        its node  -         -        -             -          -      -
  Unbind                      its node  -         yes      -             -          -      deleted node
  ReportConflict              its node  -         -        -             -          -      -
  ListBindings                its node  yes       yes      -             yes        yes    yes
  GetAddress                  -         yes       yes      -             yes        yes    yes
  ListAllocations             its node  yes       yes      yes           yes        yes    yes
  Reserve                     -         -         yes      -             -          -      yes
  Unreserve                   -         -         yes      -             -          -      yes
  ListReservations            -         yes       yes      -             yes        yes    yes
  Quarantine                  -         -         yes      -             -          -      -
  Unquarantine                -         -         yes      -             -          -      -
  ipledger.v1.Subnets         agent     allocator operator ovn-projector read-model viewer watcher
  ApplySubnet                 -         -         yes      -             -          -      yes
  DeleteSubnet                -         -         yes      -             -          -      yes
  GetSubnet                   -         yes       yes      -             yes        yes    yes
  ListSubnets                 -         yes       yes      yes           yes        yes    yes
  ApplyPool                   -         -         yes      -             -          -      yes
  DeletePool                  -         -         yes      -             -          -      yes
  GetPool                     -         yes       yes      -             yes        yes    yes
  ListPools                   -         yes       yes      -             yes        yes    yes
  ipledger.v1.Ledger          agent     allocator operator ovn-projector read-model viewer watcher
  Watch                       -         yes       yes      yes           yes        yes    yes
  History                     -         yes       yes      -             yes        yes    yes
  NextAllocations             -         yes       yes      -             yes        yes    yes
  StateAt                     -         yes       yes      -             yes        yes    yes
  Diff                        -         yes       yes      -             yes        yes    yes
  Why                         -         yes       yes      -             yes        yes    yes
  Verify                      -         yes       yes      -             yes        yes    yes
  Export                      -         yes       yes      -             yes        yes    yes
  Checkpoint                  -         yes       yes      -             yes        yes    yes
  GetStatus                   -         yes       yes      yes           yes        yes    yes
  Restore                     -         -         yes      -             -          -      -
  Unfreeze                    -         -         yes      -             -          -      -
  ipledger.v1.Views           agent     allocator operator ovn-projector read-model viewer watcher
  MapAddresses                -         yes       yes      -             yes        yes    yes
  ListUsage                   -         yes       yes      -             yes        yes    yes
  Search                      -         yes       yes      -             yes        yes    yes
  grpc.health.v1.Health       agent     allocator operator ovn-projector read-model viewer watcher
  Check                       yes       yes       yes      yes           yes        yes    yes
  Watch                       yes       yes       yes      yes           yes        yes    yes
  List                        yes       yes       yes      yes           yes        yes    yes
  grpc.reflection.v1.ServerReflection agent     allocator operator ovn-projector read-model viewer watcher
  ServerReflectionInfo        yes       yes       yes      yes           yes        yes    yes
  grpc.reflection.v1alpha.ServerReflection agent     allocator operator ovn-projector read-model viewer watcher
  ServerReflectionInfo        yes       yes       yes      yes           yes        yes    yes
`;

type Cell = '-' | 'yes' | 'its node' | 'deleted node' | 'no import';
interface Row {
  readonly path: string;
  readonly cells: Record<CertificateKind, Cell>;
}

const rows: Row[] = [];
let service = '';
for (const line of table.trim().split('\n')) {
  const [name = '', ...cells] = line.trim().split(/ +(?!node|import)/);
  if (cells[0] === 'agent') service = name;
  else {
    const entries = identityKinds.toSorted().map((kind, column) => [kind, cells[column]]);
    rows.push({ path: `/${service}/${name}`, cells: Object.fromEntries(entries) as Row['cells'] });
  }
}

const uris = {
  agent: 'ipledger://agent/node-1',
  allocator: 'ipledger://allocator/a',
  operator: 'ipledger://operator/me',
  'ovn-projector': 'ipledger://ovn-projector',
  'read-model': 'ipledger://read-model',
  viewer: 'ipledger://viewer',
  watcher: 'ipledger://watcher',
} as const satisfies Record<CertificateKind, string>;

/** Requests for a node. They meet a condition of the table, or not. */
const ofNode = (node: string) => ({ ...sandboxOf('pod'), node, bootId: 'boot-1' });
const conflict = { address: '172.17.0.11', seenMac: '52:54:00:12:34:56' };
const importing = { ...allocateRequest('pod'), import: true };
const requests: Record<string, { readonly right: object; readonly wrong: object }> = {
  '/ipledger.v1.Ipam/Allocate': { right: allocateRequest('pod'), wrong: importing },
  '/ipledger.v1.Ipam/Attach': { right: { ...ofNode('node-1'), timeoutMs: 1 }, wrong: ofNode('node-2') },
  '/ipledger.v1.Ipam/Bind': { right: ofNode('node-1'), wrong: ofNode('node-2') },
  '/ipledger.v1.Ipam/ListAllocations': { right: { node: 'node-1' }, wrong: { node: 'node-2' } },
  '/ipledger.v1.Ipam/ListBindings': { right: { node: 'node-1' }, wrong: {} },
  '/ipledger.v1.Ipam/ReportConflict': {
    right: { ...ofNode('node-1'), ...conflict },
    wrong: { ...ofNode('node-2'), ...conflict },
  },
  '/ipledger.v1.Ipam/Unbind': {
    right: { ...sandboxOf('pod'), cause: 'UNBIND_CAUSE_NODE_OUT_OF_SERVICE' },
    wrong: { ...sandboxOf('pod'), cause: 'UNBIND_CAUSE_CONTAINER_DELETED' },
  },
};
/** RPCs whose handler compares the node with the state. Tested separately below. */
const judgedByState = ['/ipledger.v1.Ipam/Wait', '/ipledger.v1.Ipam/Unbind'];

const methods = new Map<string, Method<object, object>>(
  [IpamService, SubnetsService, LedgerService].flatMap((one) =>
    (Object.values(one) as Method<object, object>[]).map((method) => [method.path, method] as const),
  ),
);

/** Calls any method. Returns its error code, or "answered". */
function answerOf(client: Client, path: string, request: object, metadata = new Metadata()): Promise<string> {
  const same = (bytes: Buffer): Buffer => bytes;
  return new Promise((resolve) => {
    const sent = client.makeBidiStreamRequest(path, same, same, metadata, { deadline: Date.now() + 20_000 });
    sent.on('error', (error: ServiceError) => {
      resolve(String(error.metadata.get(errorCodeMetadata)[0] ?? status[error.code]));
    });
    sent.on('data', () => {
      resolve('answered');
      sent.cancel();
    });
    sent.on('end', () => resolve('answered'));
    sent.write(methods.get(path)?.requestSerialize(request) ?? Buffer.alloc(0));
    sent.end();
  });
}

describe('The permission table', () => {
  let folder: string;
  let authority: Authority;
  let served: ServedAllocator;
  const endpoints = { tls: '', plaintext: '' };
  const servers: Server[] = [];
  const opened: { close(): void }[] = [];

  async function certificate(name: string, ...alternativeNames: string[]): Promise<Tls> {
    const pair = await issueCertificate(authority, { name, commonName: name, alternativeNames });
    return loadTls({ ca: authority.cert, ...pair });
  }
  const identified = (uri: string): Promise<Tls> => certificate(uri.replaceAll(/\W+/g, '-'), `URI:${uri}`);
  async function client(uri: string): Promise<Client> {
    const options = { 'grpc.ssl_target_name_override': 'allocator' };
    const made = new Client(endpoints.tls, clientCredentials(await identified(uri)), options);
    opened.push(made);
    return made;
  }
  async function connection(uri: string): Promise<Connection> {
    const made = connect(endpoints.tls, await identified(uri));
    opened.push(made);
    return made;
  }

  async function listen(tls: Tls): Promise<string> {
    const server = createServer({ tls, log: silentLog });
    addServices(server, served.allocator, { log: silentLog });
    // Only a read model answers them: the table has them for every server
    addGrpcService(server, ViewsService, {}, { log: silentLog });
    new HealthImplementation({ '': 'SERVING' }).addToServer(server);
    addReflection(server);
    servers.push(server);
    return listenOnLoopback(server, serverCredentials(tls));
  }

  before(async () => {
    folder = mkdtempSync(join(tmpdir(), 'ipledger-permissions-'));
    authority = await openAuthority(folder);
    served = await serveAllocator();
    endpoints.tls = await listen(await identified('ipledger://allocator/self'));
    endpoints.plaintext = await listen(undefined);
  });
  afterEach(() => {
    for (const one of opened.splice(0)) one.close();
  });
  after(async () => {
    for (const server of servers) server.forceShutdown();
    await served[Symbol.asyncDispose]();
    rmSync(folder, { recursive: true });
  });

  it('The permission table contains exactly the RPCs of an allocator and a read model', () => {
    const answered = [...(servers[0] as unknown as { handlers: Map<string, unknown> }).handlers.keys()];
    expect(rows.map(({ path }) => path)).to.have.members(answered);
    expect([...permissions.keys()]).to.have.members(answered);
  });

  it('The permission table equals the table in docs/security.md', () => {
    const document = join(import.meta.dirname, '../../../docs/security.md');
    if (!existsSync(document)) return;
    const section = /<!-- permissions -->([^]*)<!-- \/permissions -->/.exec(readFileSync(document, 'utf8'))?.[1] ?? '';
    const lines = section.split('\n').filter((line) => line.startsWith('| `'));
    const documented = lines.flatMap((line) => {
      const [names = '', ...cells] = line
        .split('|')
        .slice(1, -1)
        .map((cell) => cell.trim());
      const [prefix = '', ...rest] = [...names.matchAll(/`([^`]+)`/g)].map(([, name = '']) => name);
      return (rest.length > 0 ? rest : ['']).map((name) => [`/${prefix}${name}`, ...cells].join(' | '));
    });
    const expected = rows.map(({ path, cells }) =>
      [path, ...identityKinds.toSorted().map((kind) => cells[kind])].join(' | '),
    );
    expect(documented).to.have.members(expected);
  });

  for (const kind of identityKinds)
    it(`The permission table is enforced for ${uris[kind]}`, async () => {
      const caller = await client(uris[kind]);
      const wrong: string[] = [];
      for (const { path, cells } of rows) {
        const cell = cells[kind];
        const { right, wrong: other } = requests[path] ?? { right: {}, wrong: {} };
        const allowed = (await answerOf(caller, path, right)) !== 'PERMISSION_DENIED';
        if (allowed !== (cell !== '-'))
          wrong.push(`${path}: ${allowed ? 'allowed' : 'refused'}, and should be ${cell}`);
        if (cell === '-' || cell === 'yes') continue;
        if (kind === 'agent' && judgedByState.includes(path)) continue;
        if ((await answerOf(caller, path, other)) !== 'PERMISSION_DENIED')
          wrong.push(`${path}: allowed with ${JSON.stringify(other)}, which is not of "${cell}"`);
      }
      expect(wrong).to.deep.equal([]);
    });

  it('The permission table is not enforced without TLS', async () => {
    const caller = new Client(endpoints.plaintext, clientCredentials(undefined));
    opened.push(caller);
    for (const { path } of rows) {
      const { right } = requests[path] ?? { right: {} };
      expect(await answerOf(caller, path, right), path).not.to.be.oneOf(['PERMISSION_DENIED', 'UNAUTHENTICATED']);
    }
  });

  for (const [what, names] of [
    ['has no identity', ['DNS:localhost']],
    ['has two identities', ['URI:ipledger://operator/me', 'URI:ipledger://viewer']],
    ['has an unknown kind of identity', ['URI:ipledger://root']],
  ] as const)
    it(`The permission table rejects a certificate of the right authority that ${what}`, async () => {
      const pair = await issueCertificate(authority, {
        name: what.replaceAll(' ', '-'),
        commonName: 'x',
        alternativeNames: names,
      });
      const [ca, cert, key] = [authority.cert, pair.cert, pair.key].map((file) => readFileSync(file));
      const unchecked = { checkServerIdentity: () => undefined };
      const credentials = ChannelCredentials.createSsl(ca ?? null, key, cert, unchecked);
      const caller = new Client(endpoints.tls, credentials, { 'grpc.ssl_target_name_override': 'allocator' });
      opened.push(caller);
      for (const { path } of rows) expect(await answerOf(caller, path, {}), path).to.equal('UNAUTHENTICATED');
    });

  it('the error lists the identities that may call', async () => {
    const calling = call(await connection(uris.viewer), IpamService.release, {}, { timeoutMs: 20_000 });
    const error = await failureOf(calling);
    expect(error.code).to.equal('PERMISSION_DENIED');
    expect((error.cause as ServiceError).code).to.equal(status.PERMISSION_DENIED);
    expect(error.message).to.equal(
      'ipledger://viewer may not call /ipledger.v1.Ipam/Release: only these may: operator, watcher',
    );
  });

  it('the error contains the node of an agent', async () => {
    const calling = call(await connection(uris.agent), IpamService.bind, ofNode('node-2'), { timeoutMs: 20_000 });
    expect((await failureOf(calling)).message).to.equal(
      'ipledger://agent/node-1 may not call /ipledger.v1.Ipam/Bind with this: it is the agent of node node-1, and the request names node-2',
    );
  });

  it('The permission table rejects a request with a long text that is cut inside a character, and serves the next request', async () => {
    const agent = await connection(uris.agent);
    const codes: string[] = [];
    for (const start of ['', 'x']) {
      const calling = call(agent, IpamService.bind, ofNode(start + '😀'.repeat(450)), { timeoutMs: 20_000 });
      codes.push((await failureOf(calling)).code);
    }
    expect(codes).to.deep.equal(['PERMISSION_DENIED', 'PERMISSION_DENIED']);
  });

  describe('with conditions on the state', () => {
    const send = async <Request, Reply>(
      uri: string,
      method: Method<Request, Reply, 'unary'>,
      request: MessageInput<Request>,
      metadata = new Metadata(),
    ): Promise<Reply> => call(await connection(uri), method, request, { timeoutMs: 20_000, metadata });
    const agent = (node: string): string => `ipledger://agent/${node}`;
    const bindOn = (node: string, pod: string, containerId = `container-of-${pod}`) =>
      send(agent(node), IpamService.bind, { ...sandboxOf(pod), containerId, node, bootId: 'boot-1' });
    const waitOn = (node: string, pod: string) =>
      send(agent(node), IpamService.wait, { ...sandboxOf(pod), timeoutMs: 1 });
    const attachOn = (node: string, pod: string) =>
      send(agent(node), IpamService.attach, { ...sandboxOf(pod), node, bootId: 'boot-1', timeoutMs: 1 });
    const allocate = (pod: string, node: string) =>
      send(uris.watcher, IpamService.allocate, allocateRequest(pod, {}, { node }));

    before(() => applyMacvlan(served));

    for (const [what, node] of [
      ['runs on its node', 'node-1'],
      ['has no node yet', ''],
    ] as const)
      it(`The permission table lets an agent wait for and bind a Pod that ${what}`, async () => {
        const pod = `own${node}`;
        await allocate(pod, node);
        expect((await waitOn('node-1', pod)).allocation?.podUid).to.equal(`uid-${pod}`);
        expect((await bindOn('node-1', pod)).allocation?.node).to.equal('node-1');
      });

    it('The permission table rejects Wait, Attach and Bind of an agent for a Pod of another node', async () => {
      await allocate('foreign', 'node-2');
      for (const calling of [waitOn('node-1', 'foreign'), attachOn('node-1', 'foreign'), bindOn('node-1', 'foreign')])
        expect(await failureOf(calling)).to.include({
          code: 'PERMISSION_DENIED',
          message: 'Pod default/foreign does not run on node node-1',
        });
    });

    it('an agent does not learn the interfaces of a Pod of another node', async () => {
      await allocate('set-up', 'node-2');
      await bindOn('node-2', 'set-up');
      const calling = send(agent('node-1'), IpamService.wait, {
        ...sandboxOf('set-up'),
        interface: 'net9',
        timeoutMs: 1,
      });
      expect((await failureOf(calling)).code).to.equal('PERMISSION_DENIED');
    });

    it('The permission table fixes the node of a Pod at its first Bind', async () => {
      await allocate('pinned', '');
      await bindOn('node-2', 'pinned');
      expect((await failureOf(waitOn('node-1', 'pinned'))).code).to.equal('PERMISSION_DENIED');
      expect((await failureOf(bindOn('node-1', 'pinned', 'other'))).code).to.equal('PERMISSION_DENIED');
    });

    it('The permission table ignores Unbind of an agent for a binding on another node', async () => {
      await allocate('kept', 'node-2');
      await bindOn('node-2', 'kept');
      expect((await send(agent('node-1'), IpamService.unbind, sandboxOf('kept'))).unbound).to.equal(0);
      const { bindings } = await send(agent('node-2'), IpamService.listBindings, { node: 'node-2' });
      expect(bindings.map(({ attachment }) => attachment?.pod)).to.include('kept');
      expect((await send(agent('node-2'), IpamService.unbind, sandboxOf('kept'))).unbound).to.equal(1);
    });

    it('The permission table records the identity of the certificate as the actor', async () => {
      const { position } = await send(uris.operator, IpamService.allocate, allocateRequest('by-hand'));
      const events = [];
      const replies = stream(
        await connection(uris.viewer),
        LedgerService.watch,
        { fromSeq: position?.seq ?? 0 },
        { silenceMs: 20_000, signal: never },
      );
      for await (const reply of replies) {
        events.push(...reply.events);
        if (events.length > 0) break;
      }
      expect(events[0]).to.include({ type: 'AddressAllocated', actor: 'ipledger://operator/me' });
    });

    it('The permission table applies the permissions of the original caller to a forwarded call', async () => {
      const as = (uri: string): Metadata => {
        const metadata = new Metadata();
        metadata.set(onBehalfOfKey, uri);
        return metadata;
      };
      const request = allocateRequest('forwarded', {}, { node: 'node-1' });
      await send(uris.allocator, IpamService.allocate, request, as(uris.watcher));
      const bind = { ...sandboxOf('forwarded'), node: 'node-1', bootId: 'boot-1' };
      await send(uris.allocator, IpamService.bind, bind, as(uris.agent));
      for (const calling of [
        send(uris.allocator, IpamService.allocate, request, as(uris.viewer)),
        send(uris.allocator, IpamService.bind, bind, as(agent('node-2'))),
        send(uris.allocator, IpamService.allocate, request, as('anonymous')),
        send(uris.allocator, IpamService.allocate, request),
      ])
        expect((await failureOf(calling)).code).to.equal('PERMISSION_DENIED');
    });

    it('The permission table rejects a forwarded identity from any caller but an allocator', async () => {
      const metadata = new Metadata();
      metadata.set(onBehalfOfKey, uris.operator);
      const calling = send(uris.watcher, IpamService.listAllocations, {}, metadata);
      expect((await failureOf(calling)).message).to.equal(
        'ipledger://watcher may not call on behalf of ipledger://operator/me',
      );
    });
  });
});
