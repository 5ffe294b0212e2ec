import { expect } from 'chai';
import { IpledgerError } from '../../../lib/errors.ts';
import { kubernetesIdentity, type KubernetesUser } from '../../../lib/tls/kubernetes-user.ts';
import { AccessAuthorizer, allowedTtlMs } from './access-authorizer.ts';

const userNamed = (username: string, groups: readonly string[] = []): KubernetesUser => {
  const identity = kubernetesIdentity(username);
  if (!identity) throw new Error(username);
  return { ...identity, kind: 'kubernetes-user', username, uid: '', groups, extra: {} };
};
const alice = userNamed('alice');
const release = { resource: 'allocations', verb: 'release' };

describe('The authorization of Kubernetes users', () => {
  let now: number;
  let isDown: boolean;
  /** The allowed "user groups resource/verb". */
  let allowed: Set<string>;
  let reviewed: string[];
  let authorizer: AccessAuthorizer;
  beforeEach(() => {
    now = 0;
    isDown = false;
    allowed = new Set(['alice  allocations/release']);
    reviewed = [];
    authorizer = new AccessAuthorizer(
      ({ username, groups }, { resource, verb }) => {
        const name = `${username} ${groups.join()} ${resource}/${verb}`;
        reviewed.push(name);
        if (isDown) return Promise.reject(new IpledgerError('UNAVAILABLE', 'down'));
        return Promise.resolve({ isAllowed: allowed.has(name), reason: '' });
      },
      () => now,
    );
  });
  const codeOf = (user = alice, permission = release): Promise<string> =>
    authorizer.authorize(user, permission).then(
      () => 'allowed',
      (error: unknown) => IpledgerError.from(error).code,
    );

  it('The authorization of Kubernetes users allows what the API server allows, and reviews it again after 30 s', async () => {
    expect(await codeOf()).to.equal('allowed');
    now = allowedTtlMs - 1;
    expect(await codeOf()).to.equal('allowed');
    expect(reviewed).to.have.length(1);
    now = allowedTtlMs;
    allowed.clear();
    expect(await codeOf()).to.equal('PERMISSION_DENIED');
    expect(reviewed).to.have.length(2);
  });

  it('The authorization of Kubernetes users denies other permissions and names the missing rule, and caches the denial for 10 s', async () => {
    const error = await authorizer
      .authorize(alice, { resource: 'addresses', verb: 'quarantine' })
      .catch((thrown: unknown) => IpledgerError.from(thrown));
    expect(error).to.include({ code: 'PERMISSION_DENIED' });
    expect((error as IpledgerError).message).to.contain(
      'kubernetes:alice may not quarantine addresses.ipledger.io: a ClusterRole with apiGroups [ipledger.io], resources [addresses] and verbs [quarantine]',
    );
    expect(await codeOf(userNamed('bob'))).to.equal('PERMISSION_DENIED');
    now = 9_999;
    expect(await codeOf(userNamed('bob'))).to.equal('PERMISSION_DENIED');
    expect(reviewed).to.have.length(2);
    now = 10_000;
    allowed.add('bob  allocations/release');
    expect(await codeOf(userNamed('bob'))).to.equal('allowed');
  });

  it('The authorization of Kubernetes users caches outcomes separately by user, groups and permission', async () => {
    allowed.add('bob sre allocations/release');
    expect(await codeOf(userNamed('bob', ['sre']))).to.equal('allowed');
    expect(await codeOf(userNamed('bob'))).to.equal('PERMISSION_DENIED');
    expect(await codeOf(userNamed('bob', ['sre']), { resource: 'allocations', verb: 'list' })).to.equal(
      'PERMISSION_DENIED',
    );
    expect(await codeOf(userNamed('bob,sre'))).to.equal('PERMISSION_DENIED');
  });

  it('The authorization of Kubernetes users sends one review for simultaneous calls', async () => {
    expect(await Promise.all([codeOf(), codeOf(), codeOf()])).to.deep.equal(['allowed', 'allowed', 'allowed']);
    expect(reviewed).to.have.length(1);
  });

  it('authorization fails with UNAVAILABLE while the API server is down, with one review per second', async () => {
    isDown = true;
    expect([await codeOf(), await codeOf()]).to.deep.equal(['UNAVAILABLE', 'UNAVAILABLE']);
    expect(reviewed).to.have.length(1);
    [now, isDown] = [1_000, false];
    expect(await codeOf()).to.equal('allowed');
  });

  it('The authorization of Kubernetes users limits the reviews of many users, and not those of a permission that was allowed before', async () => {
    expect(await codeOf()).to.equal('allowed');
    now = allowedTtlMs;
    const codes: string[] = [];
    for (let count = 0; count < 300; count++) codes.push(await codeOf(userNamed(`tenant-${count}`)));
    expect(codes.filter((code) => code === 'RATE_LIMITED')).to.have.length(100);
    expect(await codeOf()).to.equal('allowed');
    expect(reviewed).to.have.length(202);
    now += 1_000;
    expect(await codeOf(userNamed('later'))).to.equal('PERMISSION_DENIED');
  });

  it('The authorization of Kubernetes users keeps at most 10,000 outcomes of each kind', async () => {
    for (let count = 0; count < 10_100; count++) {
      now += 20;
      await codeOf(userNamed(`tenant-${count}`));
    }
    expect(authorizer.size).to.equal(10_000);
  });
});
