import { expect } from 'chai';
import { type ErrorCode, IpledgerError } from '../../../lib/errors.ts';
import { maxErrorBytes, notAllocatedError } from './cni-error.ts';
import { request } from '../testing/fakes.ts';
import { formatErrorResponse } from './cni-response.ts';

const run = '. Run: kubectl ipledger why default/p (or kubectl describe pod)';
const start = 'no address allocated to pod default/p provider macvlan.default';
const logs = ', please see kube-ovn-controller logs to find errors';

const text = (code: ErrorCode, message: string, podWarning = ''): string =>
  notAllocatedError(request(), new IpledgerError(code, message), podWarning).message;

/** Formats the error as kubelet logs it, with the words that the plugin adds. */
const asPrinted = (error: IpledgerError): string =>
  `RPC failed; request ip return 500 ${(JSON.parse(formatErrorResponse(error)) as { error: string }).error}`;

describe('CNI error of an ADD without an address', () => {
  it('KO-5125 CNI error of an ADD has the cause and a command for details, not the logs of kube-ovn-controller', () => {
    const error = text('NOT_ALLOCATED', 'refused at T: AddressConflict: 10.0.0.2 is in use by Pod default/q');
    expect(error).to.equal(`${start}: refused at T: AddressConflict: 10.0.0.2 is in use by Pod default/q${run}`);
    expect(error).not.to.contain('kube-ovn-controller');
  });

  it('CNI error of a refused Bind does not deny the address of the Pod', () => {
    const refused = '10.0.0.2 of subnet lan cannot be bound on node node-2';
    const address = 'the address of pod default/p provider macvlan.default cannot be used on this node';
    expect(text('ADDRESS_ANSWERING', refused)).to.equal(`${address}: ${refused}${run}`);
    expect(text('RATE_LIMITED', 'too many')).to.equal(
      `${start}: the allocator rejected the request for now: too many${run}`,
    );
    expect(text('UNAVAILABLE', 'no route')).to.equal(`${start}: the allocator did not answer: no route${run}`);
  });

  it('CNI error has Kube-OVN’s advice, verbatim, when neither allocator nor pod-watcher knows a cause', () => {
    const unknown = text('NOT_REQUESTED', 'pod-watcher has requested no address');
    expect(unknown).to.contain(`${start}${logs}`);
    expect(unknown).to.contain('pod-watcher has requested no address');
    expect(unknown.endsWith(run)).to.equal(true);
  });

  it('CNI error has the cause of the Event, once, when pod-watcher rejected a main NIC', () => {
    const cause = 'annotation macvlan.default.kubernetes.io/logical_switch: a main NIC cannot have it: give it another';
    const event = `stage=getPodKubeovnNets error=${cause}`;
    for (const code of ['NOT_REQUESTED', 'PROVIDER_UNBOUND'] as const)
      expect(text(code, 'provider macvlan.default is not bound to any subnet', event)).to.equal(
        `${start}: ${cause}${run}`,
      );
  });

  it('CNI error has the reason that pod-watcher shows, because the log has each refusal of a Pod only once', () => {
    const older = 'refused at T: NoAvailableAddress: 1 of 3 in use';
    const event =
      'stage=acquireAddress provider=macvlan.default error=NoAvailableAddress: 3 of 3 in use; the Pod waits';
    expect(text('NOT_ALLOCATED', older, event)).to.equal(
      `${start}: NoAvailableAddress: 3 of 3 in use; the Pod waits${run}`,
    );
    expect(text('NOT_ALLOCATED', older, 'default/other: the link gets another MAC')).to.equal(
      `${start}: ${older}${run}`,
    );
  });

  it('CNI error names a provider without a Subnet once, in Kube-OVN’s words', () => {
    const sentence = 'provider macvlan.default is not bound to any subnet';
    expect(text('PROVIDER_UNBOUND', sentence)).to.equal(`${sentence}: create a Subnet with that spec.provider${run}`);
    expect(text('PROVIDER_UNBOUND', sentence, `stage=getPodKubeovnNets error=${sentence}: create one`)).to.equal(
      `${sentence}: create one${run}`,
    );
  });

  it('CNI error has at most 512 bytes when the plugin prints it, and ends with what to do', () => {
    const remedy = '. Delete its Node: kubectl delete node node-1';
    const causes = ['x', 'é', '🦜'].map((each) => `${each.repeat(1_000)}${remedy}`);
    for (const cause of causes) {
      const printed = asPrinted(notAllocatedError(request(), new IpledgerError('NOT_ALLOCATED', cause), ''));
      expect(Buffer.byteLength(printed)).to.be.within(500, 512);
      expect(printed).to.contain(' … ');
      expect(printed.endsWith(`${remedy}${run}`), printed).to.equal(true);
      expect(printed).not.to.contain('\ufffd');
    }
  });

  it('CNI error keeps the cause and an untruncated command when names are long', () => {
    const long = { pod_namespace: 'n'.repeat(63), pod_name: 'p'.repeat(253), provider: `${'q'.repeat(253)}.default` };
    const error = notAllocatedError(request(long), new IpledgerError('NOT_REQUESTED', 'the cause of it'), '');
    expect(error.message).to.contain('the cause of it. Run: kubectl ipledger why NAMESPACE/POD (or kubectl describe');
    expect(Buffer.byteLength(asPrinted(error))).to.be.at.most(512);
  });

  it('CNI error keeps each reason for a read-only ledger, and its remedy, when names are long', () => {
    const long = request({
      podNamespace: 'n'.repeat(63),
      podName: 'p'.repeat(253),
      provider: `${'w'.repeat(253)}.default`,
    });
    for (const message of [
      'etcd is full: no address can be allocated or released. Compact and defragment it, then run: etcdctl alarm disarm',
      'etcd has the alarm CORRUPT: no address can be allocated or released. Follow the runbook IpledgerNoWrites',
      'no allocator is the writer: no address can be allocated or released. Follow the runbook IpledgerNoWriter',
      'the ledger is frozen: no address can be allocated or released. Run: ipledger recover',
    ]) {
      expect(text('LEDGER_NOT_WRITABLE', message, 'stage=acquireAddress error=old')).to.equal(
        `${start}: ${message}${run}`,
      );
      const error = notAllocatedError(long, new IpledgerError('LEDGER_NOT_WRITABLE', message), '');
      expect(error.message).to.contain(`: ${message}. Run: `);
      expect(Buffer.byteLength(asPrinted(error))).to.be.at.most(512);
    }
  });

  it('CNI error keeps the remedy of a full etcd that the writer reports', () => {
    const etcd = 'etcdserver: mvcc: database space exceeded';
    const remedy = 'Compact and defragment it, then run: etcdctl alarm disarm';
    const message = `etcd accepts no writes: ${etcd}. etcd is full: no address can be allocated or released. ${remedy}`;
    const long = request({
      podNamespace: 'n'.repeat(63),
      podName: 'p'.repeat(253),
      provider: `${'w'.repeat(253)}.default`,
    });
    expect(notAllocatedError(long, new IpledgerError('UNAVAILABLE', message), '').message).to.contain(
      `${remedy}. Run: `,
    );
  });

  it('CNI error is truncated for errors of other kinds, too', () => {
    const printed = asPrinted(new IpledgerError('SANDBOX_FAILED', `${'y'.repeat(2_000)}. Run: modprobe macvlan`));
    expect(Buffer.byteLength(printed)).to.equal(512);
    expect(printed).to.match(/y\. Run: modprobe macvlan$/);
  });

  it('CNI error leaves room for what the plugin adds', () => {
    expect(maxErrorBytes).to.equal(512 - 'RPC failed; request ip return 500 '.length);
  });
});
