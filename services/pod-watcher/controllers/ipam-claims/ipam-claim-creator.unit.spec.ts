import { expect } from 'chai';
import { ApiError } from '../../../../lib/kubernetes/client/api-error.ts';
import { type IpamClaimObject, ipamClaims } from '../../kubernetes/objects/ipam-claim.ts';
import { ipamClaimLimits } from '../../limits.ts';
import { FakeInformer, silentLogger, until } from '../../testing/fakes.ts';
import { IpamClaimCreator, type IpamClaimOwner } from './ipam-claim-creator.ts';

const owner: IpamClaimOwner = { apiVersion: 'v1', kind: 'Pod', name: 'web', uid: 'u-1' };
const demandOf = (claim: string) => ({
  claim,
  network: 'lan',
  interface: '',
  subnets: [],
  addresses: [],
  ipFamily: '',
});

describe('the creator of IPAMClaims', () => {
  let stop: AbortController;
  let objects: FakeInformer<IpamClaimObject>;
  let created: { claim: string; owner: IpamClaimOwner }[];
  let problems: Map<string, string>;
  beforeEach(() => {
    stop = new AbortController();
    objects = new FakeInformer();
    created = [];
    problems = new Map();
  });
  afterEach(() => stop.abort());

  function put(claim: string, metadata: object = {}): void {
    const [namespace, name] = claim.split('/');
    objects.put(ipamClaims.parse({ metadata: { namespace, name, uid: claim, ...metadata }, spec: {} }));
  }

  const createCreator = (
    create = (claim: string): Promise<void> => Promise.resolve(put(claim)),
    owners: Record<string, IpamClaimOwner | 'machine'> = { 'shop/web': owner, 'quiet/vm': owner },
  ): IpamClaimCreator =>
    new IpamClaimCreator({
      objects,
      ipamClaimOwnerOf: (pod) => owners[pod],
      create: ({ claim }, ipamClaimOwner) => {
        created.push({ claim, owner: ipamClaimOwner });
        return create(claim);
      },
      onFailed: (claim, problem) => void problems.set(claim, problem),
      log: silentLogger,
      signal: stop.signal,
    });

  it('the creator of IPAMClaims creates an IPAMClaim once, with the Pod as its owner, so that it is deleted with the Pod', async () => {
    const creator = createCreator();
    creator.request('shop/web', demandOf('shop/claim'));
    await until(() => objects.objects.has('shop/claim'));
    creator.request('shop/web', demandOf('shop/claim'));
    creator.request('quiet/vm', demandOf('quiet/claim'));
    await until(() => objects.objects.has('quiet/claim'));
    expect(created).to.deep.equal(['shop/claim', 'quiet/claim'].map((claim) => ({ claim, owner })));
  });

  it('the creator of IPAMClaims creates none if a user has created it since the request of the Pod', async () => {
    const waiting: (() => void)[] = [];
    const creator = createCreator((claim) => new Promise((resolve) => waiting.push(() => resolve(put(claim)))));
    for (let index = 0; index < 4; index++) creator.request('shop/web', demandOf(`shop/${index}`));
    creator.request('shop/web', demandOf('shop/claim'));
    creator.request('quiet/vm', demandOf('quiet/claim'));
    await until(() => waiting.length === 4);
    put('shop/claim');
    for (const answer of waiting.splice(0)) answer();
    await until(() => waiting.length > 0);
    expect(created.map(({ claim }) => claim)).to.deep.equal(['shop/0', 'shop/1', 'shop/2', 'shop/3', 'quiet/claim']);
  });

  it('the creator of IPAMClaims creates none for a deleted Pod', async () => {
    const creator = createCreator(undefined, { 'quiet/vm': owner });
    creator.request('shop/web', demandOf('shop/claim'));
    creator.request('quiet/vm', demandOf('quiet/claim'));
    await until(() => objects.objects.has('quiet/claim'));
    expect(created.map(({ claim }) => claim)).to.deep.equal(['quiet/claim']);
  });

  it('the creator of IPAMClaims creates none for a virtual machine, because another program does', async () => {
    const creator = createCreator(undefined, { 'shop/vm': 'machine', 'quiet/vm': owner });
    creator.request('shop/vm', demandOf('shop/vm.lan'));
    await until(() => problems.has('shop/vm.lan'));
    expect(problems.get('shop/vm.lan')).to.match(
      /^there is no such IPAMClaim, and none is created: .*virtual machines.* check that it runs/,
    );
    creator.request('quiet/vm', demandOf('quiet/claim'));
    await until(() => objects.objects.has('quiet/claim'));
    expect(created.map(({ claim }) => claim)).to.deep.equal(['quiet/claim']);
  });

  const controller = { apiVersion: 'kubevirt.io/v1', kind: 'VirtualMachine', name: 'vm1', uid: 'u', controller: true };
  for (const [mark, metadata] of [
    ['a controller', { ownerReferences: [controller] }],
    ['a finalizer of its own', { finalizers: ['ipledger.io/ledger', 'example.org/claims'] }],
  ] as const)
    it(`the creator of IPAMClaims creates none in a namespace where another program does, which ${mark} shows`, async () => {
      put('shop/vm1.lan', metadata);
      const creator = createCreator();
      creator.request('shop/web', demandOf('shop/claim'));
      await until(() => problems.has('shop/claim'));
      expect(problems.get('shop/claim')).to.match(/another program creates the claims of namespace shop, as vm1\.lan/);
      creator.request('quiet/vm', demandOf('quiet/claim'));
      await until(() => objects.objects.has('quiet/claim'));
      objects.drop(objects.objects.get('shop/vm1.lan') as IpamClaimObject);
      creator.request('shop/web', demandOf('shop/claim'));
      await until(() => objects.objects.has('shop/claim'));
    });

  it('the creator of IPAMClaims creates none while an IPAMClaim of another program is in the namespace, which may appear and change at any time', async () => {
    const creator = createCreator();
    const problemOf = async (claim: string): Promise<string | undefined> => {
      creator.request('shop/web', demandOf(claim));
      await until(() => objects.objects.has(claim) || problems.has(claim));
      return problems.get(claim);
    };
    put('shop/produced', { ownerReferences: [{ ...owner, kind: 'VirtualMachine', controller: true }] });
    expect(await problemOf('shop/one')).to.contain('another program creates the claims of namespace shop, as produced');
    put('shop/produced');
    expect(await problemOf('shop/two')).to.equal(undefined);
  });

  it('the creator of IPAMClaims creates an IPAMClaim beside an earlier one of its own', async () => {
    put('shop/mine', { finalizers: ['ipledger.io/ledger'], ownerReferences: [owner] });
    createCreator().request('shop/web', demandOf('shop/claim'));
    await until(() => objects.objects.has('shop/claim'));
  });

  it('the creator of IPAMClaims creates none beyond the limit of the namespace, until one is deleted', async () => {
    for (let index = 0; index < ipamClaimLimits.perNamespace; index++) put(`shop/${index}`);
    const creator = createCreator();
    creator.request('shop/web', demandOf('shop/more'));
    await until(() => problems.has('shop/more'));
    expect(problems.get('shop/more')).to.match(/namespace shop has 1000 IPAMClaims.*delete those that are not needed/);
    creator.request('quiet/vm', demandOf('quiet/claim'));
    await until(() => objects.objects.has('quiet/claim'));
    objects.drop(objects.objects.get('shop/0') as IpamClaimObject);
    creator.request('shop/web', demandOf('shop/more'));
    await until(() => objects.objects.has('shop/more'));
  });

  it('the creator of IPAMClaims sends at most four requests at a time, and then one for another namespace', async () => {
    const waiting: (() => void)[] = [];
    const creator = createCreator((claim) => new Promise((resolve) => waiting.push(() => resolve(put(claim)))));
    for (let index = 0; index < 1_200; index++) creator.request('shop/web', demandOf(`shop/${index}`));
    creator.request('quiet/vm', demandOf('quiet/claim'));
    await until(() => waiting.length === 4);
    for (const answer of waiting.slice(0, 2)) answer();
    await until(() => waiting.length === 6);
    expect(created.map(({ claim }) => claim)).to.include('quiet/claim');
  });

  it('the creator of IPAMClaims reports why an IPAMClaim could not be created', async () => {
    const creator = createCreator(() => Promise.reject(new ApiError(403, 'exceeded quota')));
    creator.request('shop/web', demandOf('shop/claim'));
    await until(() => problems.has('shop/claim'));
    expect(problems.get('shop/claim')).to.equal('there is no such IPAMClaim, and none is created: exceeded quota');
  });
});
