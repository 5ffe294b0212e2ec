import { expect } from 'chai';
import { PortSecurity } from './port-security.ts';
import type { SecuredPod } from './secured-pod.ts';

const provider = 'net.default.ovn';
const pod = (uid: string, secured: readonly string[] = [], ledgerUid = uid): SecuredPod => ({
  namespace: 'default',
  name: `pod-${uid}`,
  uid,
  resourceVersion: '1',
  ledgerUid,
  secured: new Set(secured),
});

describe('Port security', () => {
  let changes: string[];
  let withPorts: Set<string>;
  let security: PortSecurity;
  beforeEach(() => {
    changes = [];
    withPorts = new Set();
    security = new PortSecurity({
      hasPorts: ({ uid }) => withPorts.has(uid),
      onChange: ({ uid }) => void changes.push(uid),
    });
  });
  const put = (object: SecuredPod): void => security.handle({ kind: 'present', object, before: undefined });
  const drop = (object: SecuredPod): void => security.handle({ kind: 'gone', object, witnessed: true });
  const isSecured = (uid: string, of = provider): boolean =>
    security.isSecured({ namespace: 'default', uid, provider: of });

  it('Port security holds for the NICs of the provider that an annotation names, or of all providers', () => {
    put(pod('a', [provider]));
    put(pod('b', ['ovn']));
    expect([isSecured('a'), isSecured('a', 'other.default.ovn'), isSecured('b'), isSecured('c')]).to.deep.equal([
      true,
      false,
      true,
      false,
    ]);
  });

  it('Port security reports each changed request once', () => {
    put(pod('a', [provider]));
    put(pod('a', [provider]));
    put(pod('a'));
    put(pod('b'));
    expect(changes).to.deep.equal(['a', 'a']);
    expect(isSecured('a')).to.equal(false);
  });

  it('Port security holds while either Pod of a migrating virtual machine requests it', () => {
    put(pod('source', [provider], 'vm'));
    put(pod('target', [], 'vm'));
    expect(isSecured('vm')).to.equal(true);
    drop(pod('source', [provider], 'vm'));
    expect(isSecured('vm')).to.equal(false);
  });

  it('Port security of a deleted Pod holds until its last port is deleted, because its container may still run', () => {
    withPorts.add('a');
    put(pod('a', [provider]));
    drop(pod('a', [provider]));
    security.sweep();
    expect(isSecured('a')).to.equal(true);
    withPorts.clear();
    security.sweep();
    expect(isSecured('a')).to.equal(false);
  });
});
