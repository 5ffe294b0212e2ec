/** The table of who may call what, tried: every RPC × every identity, over real connections with real certificates. */
import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { ChannelCredentials, Client, Metadata, Server, type ServiceError, status } from '@grpc/grpc-js';
import { expect } from 'chai';
import { HealthImplementation } from 'grpc-health-check';
import { errorCodeMetadata } from '../../../lib/errors.ts';
import { identityKinds, type IdentityKind } from '../../../lib/identity.ts';
import { call, connect, type Connection, stream } from '../../../lib/rpc.ts';
import { clientCredentials, openTls, serverCredentials, type Tls } from '../../../lib/tls.ts';
import type { Input, Method } from '../../../proto/codec.ts';
import { IpamService, LedgerService, SubnetsService } from '../../../proto/ipledger.ts';
import { type Authority, issue, openAuthority } from '../../../test/harness/pki.ts';
import { failureOf, never, silent } from '../ledger/specification.ts';
import { authorization, onBehalfOf } from '../../../lib/serving/authorization.ts';
import { permissions } from '../../../lib/serving/permissions.ts';
import { addReflection } from '../../../lib/serving/reflection.ts';
import { addServices } from './services.ts';
import { applyMacvlan, podAsks, sandboxOf, type Served, serveAllocator } from './specification.ts';

const table = `
  ipledger.v1.Ipam            agent     allocator index operator viewer watcher
  Allocate                    -         -         -     yes      -      no import
  Release                     -         -         -     yes      -      yes
  Wait                        its node  -         -     -        -      -
  Bind                        its node  -         -     -        -      -
  Unbind                      its node  -         -     yes      -      deleted node
  ListBindings                its node  yes       yes   yes      yes    yes
  Get                         -         yes       yes   yes      yes    yes
  List                        its node  yes       yes   yes      yes    yes
  Reserve                     -         -         -     yes      -      yes
  Unreserve                   -         -         -     yes      -      yes
  ListReservations            -         yes       yes   yes      yes    yes
  Quarantine                  -         -         -     yes      -      -
  Lift                        -         -         -     yes      -      -
  ipledger.v1.Subnets         agent     allocator index operator viewer watcher
  ApplySubnet                 -         -         -     yes      -      yes
  DeleteSubnet                -         -         -     yes      -      yes
  GetSubnet                   -         yes       yes   yes      yes    yes
  ListSubnets                 -         yes       yes   yes      yes    yes
  ApplyPool                   -         -         -     yes      -      yes
  DeletePool                  -         -         -     yes      -      yes
  GetPool                     -         yes       yes   yes      yes    yes
  ListPools                   -         yes       yes   yes      yes    yes
  ipledger.v1.Ledger          agent     allocator index operator viewer watcher
  Watch                       -         yes       yes   yes      yes    yes
  History                     -         yes       yes   yes      yes    yes
  StateAt                     -         yes       yes   yes      yes    yes
  Diff                        -         yes       yes   yes      yes    yes
  Why                         -         yes       yes   yes      yes    yes
  Verify                      -         yes       yes   yes      yes    yes
  Export                      -         yes       yes   yes      yes    yes
  Checkpoint                  -         yes       yes   yes      yes    yes
  GetStatus                   -         yes       yes   yes      yes    yes
  Restore                     -         -         -     yes      -      -
  Thaw                        -         -         -     yes      -      -
  grpc.health.v1.Health       agent     allocator index operator viewer watcher
  Check                       yes       yes       yes   yes      yes    yes
  Watch                       yes       yes       yes   yes      yes    yes
  List                        yes       yes       yes   yes      yes    yes
  grpc.reflection.v1.ServerReflection agent     allocator index operator viewer watcher
  ServerReflectionInfo        yes       yes       yes   yes      yes    yes
  grpc.reflection.v1alpha.ServerReflection agent     allocator index operator viewer watcher
  ServerReflectionInfo        yes       yes       yes   yes      yes    yes
`;

type Cell = '-' | 'yes' | 'its node' | 'deleted node' | 'no import';
interface Row {
  readonly path: string;
  readonly cells: Record<IdentityKind, Cell>;
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
  index: 'ipledger://index',
  operator: 'ipledger://operator/me',
  viewer: 'ipledger://viewer',
  watcher: 'ipledger://watcher',
} as const satisfies Record<IdentityKind, string>;

/** Requests that say what a cell asks for, and the contrary. */
const ofNode = (node: string) => ({ ...sandboxOf('pod'), node, bootId: 'boot-1' });
const requests: Record<string, { readonly right: object; readonly wrong: object }> = {
  '/ipledger.v1.Ipam/Allocate': { right: podAsks('pod'), wrong: { ...podAsks('pod'), import: true } },
  '/ipledger.v1.Ipam/Bind': { right: ofNode('node-1'), wrong: ofNode('node-2') },
  '/ipledger.v1.Ipam/List': { right: { node: 'node-1' }, wrong: { node: 'node-2' } },
  '/ipledger.v1.Ipam/ListBindings': { right: { node: 'node-1' }, wrong: {} },
  '/ipledger.v1.Ipam/Unbind': {
    right: { ...sandboxOf('pod'), cause: 'UNBIND_CAUSE_NODE_OUT_OF_SERVICE' },
    wrong: { ...sandboxOf('pod'), cause: 'UNBIND_CAUSE_CONTAINER_DELETED' },
  },
};
/** An agent may ask for any Pod, and learns by the state whether it is of its node: tried further below. */
const judgedByState = ['/ipledger.v1.Ipam/Wait', '/ipledger.v1.Ipam/Unbind'];

const methods = new Map<string, Method<object, object>>(
  [IpamService, SubnetsService, LedgerService].flatMap((one) =>
    (Object.values(one) as Method<object, object>[]).map((method) => [method.path, method] as const),
  ),
);

/** What a method answers, whatever its kind: the code of its refusal, or "answered". */
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

describe('The table of who may call what', () => {
  let folder: string;
  let authority: Authority;
  let served: Served;
  const endpoints = { tls: '', plaintext: '' };
  const servers: Server[] = [];
  const opened: { close(): void }[] = [];

  async function certificate(name: string, ...alternativeNames: string[]): Promise<Tls> {
    const pair = await issue(authority, { name, commonName: name, alternativeNames });
    return openTls({ ca: authority.cert, ...pair });
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
    const server = new Server({ interceptors: tls ? [authorization(silent)] : [] });
    addServices(server, served.allocator, { log: silent });
    new HealthImplementation({ '': 'SERVING' }).addToServer(server);
    addReflection(server);
    servers.push(server);
    const port = await new Promise<number>((resolve, reject) => {
      server.bindAsync('127.0.0.1:0', serverCredentials(tls), (error, bound) =>
        error ? reject(error) : resolve(bound),
      );
    });
    return `127.0.0.1:${port}`;
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

  it('has every RPC that a server answers, and no other', () => {
    const answered = [...(servers[0] as unknown as { handlers: Map<string, unknown> }).handlers.keys()];
    expect(rows.map(({ path }) => path)).to.have.members(answered);
    expect([...permissions.keys()]).to.have.members(answered);
  });

  it('is the one that the documents show', () => {
    const document = join(import.meta.dirname, '../../../docs/security.md');
    if (!existsSync(document)) return;
    const shown = /<!-- permissions -->([^]*)<!-- \/permissions -->/.exec(readFileSync(document, 'utf8'))?.[1] ?? '';
    const lines = shown.split('\n').filter((line) => line.startsWith('| `'));
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
    it(`holds for ${uris[kind]}`, async () => {
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

  it('is no matter without TLS: nobody is known, and everything is allowed', async () => {
    const caller = new Client(endpoints.plaintext, clientCredentials(undefined));
    opened.push(caller);
    for (const { path } of rows) {
      const { right } = requests[path] ?? { right: {} };
      expect(await answerOf(caller, path, right), path).not.to.be.oneOf(['PERMISSION_DENIED', 'UNAUTHENTICATED']);
    }
  });

  for (const [what, names] of [
    ['names nobody', ['DNS:localhost']],
    ['names two', ['URI:ipledger://operator/me', 'URI:ipledger://viewer']],
    ['names a kind that does not exist', ['URI:ipledger://root']],
  ] as const)
    it(`lets nobody in whose certificate ${what}, though it is of our authority`, async () => {
      const pair = await issue(authority, {
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

  it('says who may', async () => {
    const asked = call(await connection(uris.viewer), IpamService.release, {}, { timeoutMs: 20_000 });
    const error = await failureOf(asked);
    expect(error.code).to.equal('PERMISSION_DENIED');
    expect((error.cause as ServiceError).code).to.equal(status.PERMISSION_DENIED);
    expect(error.message).to.equal(
      'ipledger://viewer may not call /ipledger.v1.Ipam/Release: only these may: operator, watcher',
    );
  });

  it('says for which node an agent’s certificate is', async () => {
    const asked = call(await connection(uris.agent), IpamService.bind, ofNode('node-2'), { timeoutMs: 20_000 });
    expect((await failureOf(asked)).message).to.equal(
      'ipledger://agent/node-1 may not call /ipledger.v1.Ipam/Bind with this: its certificate is for node node-1, and the request names node-2',
    );
  });

  describe('by what the ledger knows', () => {
    const ask = async <Request, Reply>(
      uri: string,
      method: Method<Request, Reply, 'unary'>,
      request: Input<Request>,
      metadata = new Metadata(),
    ): Promise<Reply> => call(await connection(uri), method, request, { timeoutMs: 20_000, metadata });
    const agent = (node: string): string => `ipledger://agent/${node}`;
    const bindOn = (node: string, pod: string, containerId = `container-of-${pod}`) =>
      ask(agent(node), IpamService.bind, { ...sandboxOf(pod), containerId, node, bootId: 'boot-1' });
    const waitOn = (node: string, pod: string) =>
      ask(agent(node), IpamService.wait, { ...sandboxOf(pod), timeoutMs: 1 });
    const allocate = (pod: string, node: string) => ask(uris.watcher, IpamService.allocate, podAsks(pod, {}, { node }));

    before(() => applyMacvlan(served));

    for (const [what, node] of [
      ['runs on its node', 'node-1'],
      ['has no node yet', ''],
    ] as const)
      it(`an agent waits for a Pod that ${what}, and binds it`, async () => {
        const pod = `mine-${node}`;
        await allocate(pod, node);
        expect((await waitOn('node-1', pod)).allocation?.podUid).to.equal(`uid-${pod}`);
        expect((await bindOn('node-1', pod)).allocation?.node).to.equal('node-1');
      });

    it('an agent neither waits for a Pod of another node nor binds it', async () => {
      await allocate('theirs', 'node-2');
      for (const asked of [waitOn('node-1', 'theirs'), bindOn('node-1', 'theirs')])
        expect(await failureOf(asked)).to.include({
          code: 'PERMISSION_DENIED',
          message: 'Pod default/theirs runs on node node-2, and not on node-1',
        });
    });

    it('an agent is not told either how a Pod of another node is set up', async () => {
      await allocate('set-up', 'node-2');
      await bindOn('node-2', 'set-up');
      const asked = ask(agent('node-1'), IpamService.wait, { ...sandboxOf('set-up'), interface: 'net9', timeoutMs: 1 });
      expect((await failureOf(asked)).code).to.equal('PERMISSION_DENIED');
    });

    it('the first Bind pins the node', async () => {
      await allocate('pinned', '');
      await bindOn('node-2', 'pinned');
      expect((await failureOf(waitOn('node-1', 'pinned'))).code).to.equal('PERMISSION_DENIED');
      expect((await failureOf(bindOn('node-1', 'pinned', 'other'))).code).to.equal('PERMISSION_DENIED');
    });

    it('an agent’s Unbind leaves what is bound on another node, without an error', async () => {
      await allocate('kept', 'node-2');
      await bindOn('node-2', 'kept');
      expect((await ask(agent('node-1'), IpamService.unbind, sandboxOf('kept'))).unbound).to.equal(0);
      const { bindings } = await ask(agent('node-2'), IpamService.listBindings, { node: 'node-2' });
      expect(bindings.map(({ attachment }) => attachment?.pod)).to.include('kept');
      expect((await ask(agent('node-2'), IpamService.unbind, sandboxOf('kept'))).unbound).to.equal(1);
    });

    it('the actor of an event is the identity of the certificate', async () => {
      const { position } = await ask(uris.operator, IpamService.allocate, podAsks('by-hand'));
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

    it('an allocator passes on a call as the caller’s: neither more nor less is allowed', async () => {
      const as = (uri: string): Metadata => {
        const metadata = new Metadata();
        metadata.set(onBehalfOf, uri);
        return metadata;
      };
      const request = podAsks('passed-on', {}, { node: 'node-1' });
      await ask(uris.allocator, IpamService.allocate, request, as(uris.watcher));
      const bind = { ...sandboxOf('passed-on'), node: 'node-1', bootId: 'boot-1' };
      await ask(uris.allocator, IpamService.bind, bind, as(uris.agent));
      for (const asked of [
        ask(uris.allocator, IpamService.allocate, request, as(uris.viewer)),
        ask(uris.allocator, IpamService.bind, bind, as(agent('node-2'))),
        ask(uris.allocator, IpamService.allocate, request, as('anonymous')),
        ask(uris.allocator, IpamService.allocate, request),
      ])
        expect((await failureOf(asked)).code).to.equal('PERMISSION_DENIED');
    });

    it('nobody but an allocator speaks for another', async () => {
      const metadata = new Metadata();
      metadata.set(onBehalfOf, uris.operator);
      const asked = ask(uris.watcher, IpamService.list, {}, metadata);
      expect((await failureOf(asked)).message).to.equal(
        'ipledger://watcher may not call on behalf of ipledger://operator/me',
      );
    });
  });
});
