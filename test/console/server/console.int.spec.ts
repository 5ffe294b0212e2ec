/** The server of the console, on a real allocator and a real read model. */
import { expect } from 'chai';
import { IpamService } from '../../../proto/generated/ipledger.ts';
import {
  allocate,
  applyMacvlan,
  applySubnet,
  bind,
  release,
} from '../../../services/allocator/grpc/testing/served-allocator.ts';
import { browse, openResponse, readFrames, signIn } from './browser-request.ts';
import { serveConsole, type ServedConsole, tokenOf } from './served-console.ts';

const api = (path: string): string => `/api/v1${path}`;

describe('The console without sign-in', () => {
  let console: ServedConsole;
  const read = async (path: string) => (await browse(console, api(path))).json as Record<string, never>;
  before(async () => {
    console = await serveConsole({ isOpen: true });
    await applyMacvlan(console.served);
    await applySubnet(console.served, 'six', { cidrBlock: 'fd00::/64' });
    await applySubnet(console.served, 'wide', { cidrBlock: '10.64.0.0/12', excludeIps: ['10.64.0.1..10.65.0.9'] });
    await allocate(console.served, 'web');
    await bind(console.served, 'web');
    await allocate(console.served, 'db');
    await release(console.served, 'db');
    await console.served.call(IpamService.quarantine, {
      subnet: 'macvlan',
      address: '172.17.9.9',
      reason: '<b>\u202eprinter',
    });
    await allocate(console.served, 'six', { provider: 'six.default', subnets: ['six'] });
    await console.caughtUp();
  });
  after(() => console[Symbol.asyncDispose]());

  it('The console without sign-in lists the Subnets with counts, trend and conditions', async () => {
    const { items, position, command } = await read('/subnets');
    const [macvlan] = items as unknown as { name: string; usage: { inUse: string }[]; trend: number[] }[];
    expect([macvlan?.name, macvlan?.usage[0]?.inUse, macvlan?.trend.at(-1)]).to.deep.equal(['macvlan', '1', 1]);
    expect(command).to.equal('ipledger subnets');
    expect(position).to.have.property('seq').above(0);
  });

  it('The console without sign-in shows a map with a cell for each address, now and at an earlier event', async () => {
    const map = await read('/subnets/macvlan/map');
    const cells = Buffer.from(map['cells'] as unknown as string, 'base64');
    expect(cells).to.have.length(65_536);
    const at = (address: string): number =>
      cells[Number(address.split('.')[2]) * 256 + Number(address.split('.')[3])] ?? -1;
    expect(
      ['172.17.0.0', '172.17.0.1', '172.17.0.10', '172.17.0.11', '172.17.0.12', '172.17.9.9', '172.17.255.255'].map(at),
    ).to.deep.equal([6, 7, 6, 2, 3, 5, 6]);
    const { counts, moment, previous } = map as unknown as {
      counts: Record<string, number>;
      moment: { seq: number };
      previous: { seq: number };
    };
    expect(counts).to.include({ bound: 1, resting: 1, quarantined: 1, excluded: 11, gateway: 1, free: 65_521 });
    const earlier = (await read(`/subnets/macvlan/map?seq=${previous.seq - 1}`)) as unknown as typeof map & {
      counts: Record<string, number>;
    };
    expect(earlier.counts).to.include({ quarantined: 0, bound: 1 });
    expect(moment.seq).to.be.above(previous.seq);
    const first = (await read('/subnets/macvlan/map?at=2000-01-01T00:00:00Z')) as unknown as {
      moment: object;
      first: object;
    };
    expect(first.moment).to.deep.equal(first.first);
    expect(await read('/subnets/macvlan/map?at=2200-01-01T00:00:00Z')).to.have.property('next', null);
  });

  it('The console without sign-in shows a Subnet of more than 65,536 addresses as blocks, whose addresses can be shown', async () => {
    const { blocks, counts } = (await read('/subnets/wide/map')) as unknown as {
      blocks: { cidr: string; counts: Record<string, number> }[];
      counts: Record<string, number>;
    };
    expect(blocks).to.have.length(16);
    expect(blocks[0]).to.deep.include({ cidr: '10.64.0.0/16' });
    for (const { cidr, counts: ofBlock } of blocks) {
      const part = (await read(`/subnets/wide/map?range=${cidr}`)) as unknown as { counts: Record<string, number> };
      expect(part.counts, cidr).to.deep.equal(ofBlock);
    }
    expect(Object.values(counts).reduce((sum, count) => sum + count)).to.equal(2 ** 20);
  });

  it('The console without sign-in lists the used addresses of IPv6', async () => {
    const { used, counts } = (await read('/subnets/six/map?family=6')) as unknown as { used: object[]; counts: object };
    expect(used).to.deep.equal([{ address: 'fd00::2', state: 'allocated' }]);
    expect(counts).to.include({ allocated: 1 });
  });

  it('The console without sign-in shows an address with its states, its history and the CNI answer, and a Pod with why', async () => {
    const page = (await read('/addresses/172.17.0.11')) as unknown as {
      states: Record<string, never>[];
      items: { type: string; text: string }[];
    };
    expect(page.items.map(({ type }) => type)).to.deep.equal(['AddressBound', 'AddressAllocated']);
    expect(page.states[0]).to.deep.include({ subnet: 'macvlan', state: 'bound' });
    expect(page.states[0]?.['allocation']).to.have.nested.property('cniAnswer.addresses[0].cidr', '172.17.0.0/16');
    const pod = (await read('/pods/default/db')) as unknown as { why: string[] };
    expect(pod.why[0]).to.match(/^it has no address: anonymous released the last one at .* \(pod-deleted\)$/);
    expect(((await read('/pods/default/web')) as unknown as { why: string[] }).why).to.deep.equal([
      'it has 172.17.0.11 of subnet macvlan, and container container-of on node node-1 uses it',
    ]);
    expect(await read('/addresses/172.17.200.1')).to.deep.include({ items: [] });
  });

  it('The console without sign-in lists and shows events with their stored line, and finds names', async () => {
    const list = (await read('/events?subnet=macvlan&limit=2')) as unknown as {
      items: { seq: number }[];
      nextPage: string;
    };
    expect(list.items).to.have.length(2);
    const next = (await read(`/events?subnet=macvlan&limit=2&page=${list.nextPage}`)) as unknown as typeof list;
    expect(next.items[0]?.seq).to.be.below(list.items[1]?.seq ?? 0);
    const one = (await read(`/events/${list.items[0]?.seq}`)) as unknown as { stored: string; seq: number };
    expect((JSON.parse(one.stored) as { seq: number }).seq).to.equal(list.items[0]?.seq);
    const { items } = (await read('/search?q=default%2Fwe')) as unknown as { items: { title: string }[] };
    expect(items.map(({ title }) => title)).to.deep.equal(['default/web']);
  });

  it('The console without sign-in escapes texts of tenants in JSON, and formulas in CSV', async () => {
    const { text, json } = await browse(console, api('/events?address=172.17.9.9'));
    expect(text).to.not.contain('\u202e');
    const { states } = (await read('/addresses/172.17.9.9')) as unknown as { states: object[] };
    expect(states[0]).to.have.nested.property('quarantine.reason', '<b>\\u202eprinter');
    expect((json['items'] as { text: string }[])[0]?.text).to.equal('<b>\\u202eprinter');
    await console.served.call(IpamService.quarantine, { subnet: 'macvlan', address: '172.17.9.10', reason: '=1+1' });
    const csv = await browse(console, api('/events?address=172.17.9.10&format=csv'));
    expect(csv.headers).to.include({ 'content-type': 'text/csv; charset=utf-8' });
    expect(csv.text.split('\r\n')[1]).to.contain(",'=1+1,");
  });

  it('The console without sign-in names the runbook of an alarm as its remedy', async () => {
    await applySubnet(console.served, 'tiny', { cidrBlock: '10.99.0.0/30' });
    await allocate(console.served, 'one', { provider: 'tiny.default', subnets: ['tiny'] });
    const readUntilRaised = async (): Promise<Record<string, unknown>[]> => {
      const { items } = (await read('/alarms')) as unknown as { items: Record<string, unknown>[] };
      return items.some(({ name }) => name === 'IpledgerSubnetFull') ? items : readUntilRaised();
    };
    const [alarm, conflict] = await readUntilRaised();
    expect(alarm).to.deep.include({ name: 'IpledgerSubnetFull', severity: 'critical', subnet: 'tiny' });
    expect(alarm)
      .to.have.nested.property('remedy[0]')
      .that.matches(/^Meaning\. /);
    expect(conflict).to.deep.include({ name: 'AddressQuarantined', subnet: 'macvlan', address: '172.17.9.9' });
    expect(conflict)
      .to.have.nested.property('remedy[0]')
      .that.matches(/^No Pod gets the address/);
  });

  it('The console without sign-in streams the events that match a filter, and continues after the last event that a browser has seen', async () => {
    const response = await openResponse(console, api('/events/stream?subnet=six'));
    const frames = readFrames(response as AsyncIterable<Buffer>);
    expect((await frames.next()).value).to.include({ event: 'position' });
    await allocate(console.served, 'other');
    await allocate(console.served, 'six-2', { provider: 'six.default', subnets: ['six'] });
    const frame = (await frames.next()).value as { id: string; data: { seq: number } };
    expect(frame.data).to.deep.include({ subnet: 'six', type: 'AddressAllocated' });
    response.destroy();
    await allocate(console.served, 'six-3', { provider: 'six.default', subnets: ['six'] });
    const again = await openResponse(console, api('/events/stream?subnet=six'), {
      headers: { 'last-event-id': frame.id },
    });
    for await (const { event, data } of readFrames(again as AsyncIterable<Buffer>))
      if (event === 'event') {
        expect(data).to.have.nested.property('pod.name', 'six-3');
        break;
      }
    expect((await browse(console, api('/events/stream?from=0'))).status).to.equal(410);
  });

  it('The console without sign-in serves the page for each view with a strict policy, and no other file', async () => {
    for (const path of ['/', '/subnets/lan/10.0.0.5', '/pods/default/web.js']) {
      const { status, headers, text } = await browse(console, path);
      expect([status, headers['content-type']], path).to.deep.equal([200, 'text/html; charset=utf-8']);
      expect(text).to.contain('/app.js');
      expect(headers['content-security-policy']).to.match(
        /^default-src 'none'; script-src 'self';.*frame-ancestors 'none'$/,
      );
      expect(headers).to.include({ 'x-content-type-options': 'nosniff', 'referrer-policy': 'no-referrer' });
    }
    expect((await browse(console, '/app.js')).headers['content-type']).to.equal('text/javascript; charset=utf-8');
    for (const path of ['/other.js', '/ca.crt', '/..%2fread-model.sqlite', '/%2e%2e/read-model.sqlite'])
      expect((await browse(console, path)).text, path).to.not.match(/SQLite|PRIVATE/);
    expect((await browse(console, '/other.js')).status).to.equal(404);
  });

  it('The console without sign-in refuses actions, other hosts, other sites, and requests that are too long or malformed', async () => {
    const statusOf = async (...request: Parameters<typeof browse> extends [unknown, ...infer Rest] ? Rest : never) =>
      (await browse(console, ...request)).status;
    expect(await statusOf(api('/actions'), { method: 'POST', body: {} })).to.equal(403);
    expect(await statusOf(api('/subnets'), { headers: { host: 'attacker.example' } })).to.equal(403);
    expect(await statusOf(api('/subnets'), { headers: { 'sec-fetch-site': 'cross-site' } })).to.equal(403);
    expect(await statusOf(api(`/subnets?x=${'a'.repeat(3_000)}`))).to.equal(414);
    expect(await statusOf(api('/subnets'), { headers: { 'x-long': 'a'.repeat(20_000) } })).to.equal(431);
    expect(await statusOf(api('/subnets/macvlan/map?family=5'))).to.equal(400);
    expect(await statusOf(api('/subnets/macvlan/map?seq=-1'))).to.equal(400);
    expect(await statusOf(api('/subnets/macvlan/map?at=tomorrow'))).to.equal(400);
    expect(await statusOf(api('/subnets/macvlan/map?seq=999999999'))).to.equal(410);
    expect(await statusOf(api('/subnets/unknown/map'))).to.equal(404);
    expect(await statusOf(api('/addresses/nonsense'))).to.equal(400);
    expect(await statusOf(api('/subnets/%ff'))).to.equal(400);
    expect(await statusOf(api('/nothing'))).to.equal(404);
    expect(await statusOf(api('/subnets'), { method: 'POST', body: {} })).to.equal(405);
  });

  it('The console without sign-in sends as many calls to the servers for a hundred viewers as for one', async () => {
    const countCalls = async (viewers: number): Promise<number> => {
      console.calls.length = 0;
      const paths = ['/subnets', '/subnets/macvlan/map?seq=5', '/subnets/macvlan'];
      await Promise.all(
        Array.from({ length: viewers }, () => Promise.all(paths.map((path) => browse(console, api(path))))),
      );
      return console.calls.filter((call) => !call.endsWith('ListUsage')).length;
    };
    await countCalls(1);
    // The present may be read once a second, however many viewers there are
    expect(await countCalls(100)).to.be.at.most(20);
  });
});

describe('The console with sign-in', () => {
  let console: ServedConsole;
  before(async () => {
    console = await serveConsole();
    await applyMacvlan(console.served);
    await allocate(console.served, 'web');
    await console.caughtUp();
  });
  after(() => console[Symbol.asyncDispose]());
  const action = (kind: string, more: object = {}) => ({
    kind,
    subnet: 'macvlan',
    address: '172.17.0.50',
    reason: 'maintenance',
    ...more,
  });
  const post = (path: string, cookie: string, body: object, headers = {}) =>
    browse(console, api(path), { method: 'POST', body, cookie, headers });

  it('The console with sign-in shows no data before sign-in, and rejects a token that the allocator rejects or that may not read', async () => {
    for (const path of ['/subnets', '/events', '/events/stream', '/search?q=web'])
      expect((await browse(console, api(path))).status, path).to.equal(401);
    expect((await browse(console, api('/session'))).json).to.include({ signedIn: false, mode: 'token', user: '' });
    const attempt = async (token: string) =>
      (await browse(console, api('/session'), { method: 'POST', body: { token } })).status;
    console.denied.add('bob');
    expect([
      await attempt(tokenOf('stranger')),
      await attempt(tokenOf('bob')),
      await attempt('no token!'),
    ]).to.deep.equal([401, 403, 401]);
  });

  for (const method of ['GetStatus', 'GetAddress', 'ListAllocations', 'ListSubnets', 'ListPools', 'Watch'])
    it(`The console with sign-in rejects a person who may not call ${method}, whose replies all people share`, async () => {
      const body = { token: tokenOf(`without-${method}`) };
      expect((await browse(console, api('/session'), { method: 'POST', body })).status).to.equal(403);
    });

  it('The console with sign-in sets a cookie that scripts cannot read and other sites do not send', async () => {
    const { headers, json } = await browse(console, api('/session'), {
      method: 'POST',
      body: { token: tokenOf('alice') },
    });
    expect(headers['set-cookie']?.[0]).to.match(
      /^__Host-ipledger-console=[\w-]{43}; Path=\/; HttpOnly; SameSite=Strict; Secure$/,
    );
    expect(json).to.include({ signedIn: true, user: 'kubernetes:alice', canAct: true });
  });

  it('The console with sign-in shows the effects of an action before it is confirmed, and records it under the name of the person', async () => {
    const cookie = await signIn(console, tokenOf('alice'));
    const preview = await post('/actions/preview', cookie, action('reserve', { reservedFor: 'vip/web' }));
    expect(preview.json).to.include({ possible: true });
    expect((preview.json['effects'] as string[]).at(-1)).to.equal(
      'The ledger records it under kubernetes:alice, with the reason "maintenance".',
    );
    expect(preview.json['command']).to.equal(
      'ipledger reserve 172.17.0.50 --subnet macvlan --for vip/web --reason maintenance',
    );
    expect((await post('/actions', cookie, action('reserve', { reservedFor: 'vip/web' }))).status).to.equal(200);
    expect((await post('/actions/preview', cookie, action('reserve', { reservedFor: 'vip/db' }))).json).to.include({
      possible: false,
    });
    for (const kind of ['unreserve', 'quarantine', 'unquarantine']) {
      expect((await post('/actions/preview', cookie, action(kind))).json, kind).to.include({ possible: true });
      expect((await post('/actions', cookie, action(kind))).status, kind).to.equal(200);
    }
    const events = (await browse(console, api('/addresses/172.17.0.50'), { cookie })).json['items'] as {
      actor: string;
      type: string;
    }[];
    expect(events.map(({ type }) => type)).to.deep.equal([
      'QuarantineLifted',
      'AddressQuarantined',
      'ReservationCancelled',
      'AddressReserved',
    ]);
    expect(new Set(events.map(({ actor }) => actor))).to.deep.equal(new Set(['kubernetes:alice']));
  });

  it('The console with sign-in releases only the allocation that the person has seen, and only with a reason', async () => {
    const cookie = await signIn(console, tokenOf('alice'));
    const address = '172.17.0.11';
    const preview = await post('/actions/preview', cookie, action('release', { address }));
    const { allocationSeq } = preview.json as { allocationSeq: number };
    expect(preview.json).to.include({ possible: true });
    expect(
      (await post('/actions', cookie, action('release', { address, allocationSeq: allocationSeq + 1 }))).status,
    ).to.equal(409);
    expect(
      (await post('/actions', cookie, action('release', { address, allocationSeq, reason: ' ' }))).status,
    ).to.equal(400);
    expect((await post('/actions', cookie, action('release', { address, allocationSeq }))).status).to.equal(200);
  });

  it('The console with sign-in refuses each change of a person who may only read', async () => {
    const cookie = await signIn(console, tokenOf('carol'));
    expect((await browse(console, api('/subnets'), { cookie })).status).to.equal(200);
    const { status, json } = await post('/actions', cookie, action('quarantine'));
    expect([status, json['code']]).to.deep.equal([403, 'PERMISSION_DENIED']);
  });

  it('The console with sign-in refuses an action of another site, by its origin, without the header, or as a form', async () => {
    const cookie = await signIn(console, tokenOf('alice'));
    const attack = async (headers: Record<string, string | undefined>) =>
      (await post('/actions', cookie, action('quarantine'), headers)).status;
    expect(await attack({ origin: 'https://attacker.example' })).to.equal(403);
    expect(await attack({ origin: 'null' })).to.equal(403);
    expect(await attack({ origin: undefined })).to.equal(403);
    expect(await attack({ 'x-ipledger-console': undefined })).to.equal(403);
    expect(await attack({ 'sec-fetch-site': 'same-site' })).to.equal(403);
    expect(await attack({ 'content-type': 'text/plain' })).to.equal(415);
    expect(
      (await browse(console, api('/session'), { method: 'POST', body: { token: 'a'.repeat(30_000) } })).status,
    ).to.equal(413);
  });

  it('The console with sign-in ends the session of a person who signs out, and its streams', async () => {
    const cookie = await signIn(console, tokenOf('alice'));
    const response = await openResponse(console, api('/events/stream'), { cookie });
    const frames = readFrames(response as AsyncIterable<Buffer>);
    await frames.next();
    expect((await browse(console, api('/session'), { method: 'DELETE', cookie })).status).to.equal(204);
    expect((await frames.next()).value).to.deep.include({ event: 'end' });
    expect((await browse(console, api('/subnets'), { cookie })).status).to.equal(401);
  });

  it('The console with sign-in writes all cells of a map as CSV', async () => {
    const cookie = await signIn(console, tokenOf('alice'));
    const { text, headers } = await browse(console, api('/subnets/macvlan/map?format=csv'), { cookie });
    expect(headers).to.include({ 'content-type': 'text/csv; charset=utf-8', 'cache-control': 'no-store' });
    expect(text.split('\r\n')[0]).to.equal('address,state');
  });

  it('The console with sign-in opens at most eight streams for a person, in all sessions', async () => {
    const [cookie, other] = [await signIn(console, tokenOf('alice')), await signIn(console, tokenOf('alice'))];
    const open = [];
    for (let index = 0; index < 8; index++)
      open.push(await openResponse(console, api('/events/stream'), { cookie: index % 2 ? cookie : other }));
    expect((await browse(console, api('/events/stream'), { cookie })).status).to.equal(503);
    for (const each of open) each.destroy();
  });

  // The last test: it uses up the rate of this address
  it('The console with sign-in limits attempts to sign in with a reviewable token, but not malformed attempts', async () => {
    const attempt = async (token: string) =>
      (await browse(console, api('/session'), { method: 'POST', body: { token } })).status;
    for (let count = 0; count < 60; count++) expect(await attempt('no token!')).to.equal(401);
    expect(await attempt(tokenOf('alice'))).to.equal(200);
    const statuses = await Promise.all(Array.from({ length: 60 }, () => attempt(tokenOf('stranger'))));
    expect(new Set(statuses)).to.deep.equal(new Set([401, 429]));
  });
});
