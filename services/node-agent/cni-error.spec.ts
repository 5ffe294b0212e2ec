import { expect } from 'chai';
import { IpledgerError } from '../../lib/errors.ts';
import { clip, maxErrorBytes, notAllocated } from './cni-error.ts';
import { request } from './fakes.ts';
import { answerError } from './wire.ts';

const run = '. Run: kubectl ipledger why default/p (or kubectl describe pod)';
const start = 'no address allocated to pod default/p provider macvlan.default';
const logs = ', please see kube-ovn-controller logs to find errors';

const text = (code: 'NOT_REQUESTED' | 'NOT_ALLOCATED' | 'PROVIDER_UNBOUND', message: string, told = ''): string =>
  notAllocated(request(), new IpledgerError(code, message), told).message;

/** As kubelet logs it: the plugin puts this before what the agent answers. */
const asPrinted = (error: IpledgerError): string =>
  `RPC failed; request ip return 500 ${(JSON.parse(answerError(error)) as { error: string }).error}`;

describe('CNI error of an ADD without address', () => {
  it('KO-5125 states the cause and the command that tells more, and does not name the logs of kube-ovn-controller', () => {
    const refused = text('NOT_ALLOCATED', 'refused at T: AddressConflict: 10.0.0.2 is in use by Pod default/q');
    expect(refused).to.equal(`${start}: refused at T: AddressConflict: 10.0.0.2 is in use by Pod default/q${run}`);
    expect(refused).not.to.contain('kube-ovn-controller');
  });

  it('keeps the advice of Kube-OVN, verbatim, where neither allocator nor pod-watcher knows a cause', () => {
    const unknown = text('NOT_REQUESTED', 'pod-watcher has requested no address');
    expect(unknown).to.contain(`${start}${logs}`);
    expect(unknown).to.contain('pod-watcher has requested no address');
    expect(unknown.endsWith(run)).to.equal(true);
  });

  it('names the cause of the Event, once, where pod-watcher refused a main NIC', () => {
    const cause = 'annotation macvlan.default.kubernetes.io/logical_switch: a main NIC cannot have it: give it another';
    const event = `stage=getPodKubeovnNets error=${cause}`;
    for (const code of ['NOT_REQUESTED', 'PROVIDER_UNBOUND'] as const)
      expect(text(code, 'provider macvlan.default is not bound to any subnet', event)).to.equal(
        `${start}: ${cause}${run}`,
      );
  });

  it('names a provider without Subnet once, in the words of Kube-OVN', () => {
    const sentence = 'provider macvlan.default is not bound to any subnet';
    expect(text('PROVIDER_UNBOUND', sentence)).to.equal(`${sentence}: create a Subnet with that spec.provider${run}`);
    expect(text('PROVIDER_UNBOUND', sentence, `stage=getPodKubeovnNets error=${sentence}: create one`)).to.equal(
      `${sentence}: create one${run}`,
    );
  });

  it('as the plugin prints it, it has at most 512 bytes, and its end says what to do', () => {
    const causes = ['x'.repeat(5_000), 'é'.repeat(5_000), `${'🦜'.repeat(900)}.`];
    for (const cause of causes) {
      const printed = asPrinted(notAllocated(request(), new IpledgerError('NOT_ALLOCATED', cause), ''));
      expect(Buffer.byteLength(printed)).to.be.within(500, 512);
      expect(printed.endsWith(`…${run}`), printed).to.equal(true);
      expect(printed).not.to.contain('\ufffd');
    }
  });

  it('of long names it leaves room for the cause, and no command is cut', () => {
    const long = { pod_namespace: 'n'.repeat(63), pod_name: 'p'.repeat(253), provider: `${'q'.repeat(253)}.default` };
    const error = notAllocated(request(long), new IpledgerError('NOT_REQUESTED', 'the cause of it'), '');
    expect(error.message).to.contain('the cause of it. Run: kubectl ipledger why NAMESPACE/POD (or kubectl describe');
    expect(Buffer.byteLength(asPrinted(error))).to.be.at.most(512);
  });

  it('an error of another kind is cut, too', () => {
    const printed = asPrinted(new IpledgerError('SANDBOX_FAILED', 'y'.repeat(2_000)));
    expect(Buffer.byteLength(printed)).to.equal(512);
  });
});

describe('clip', () => {
  it('returns a text that fits as it is, and cuts between characters', () => {
    expect(clip('é'.repeat(5), 10)).to.equal('é'.repeat(5));
    expect(clip('é'.repeat(6), 10)).to.equal('ééé…');
    expect(maxErrorBytes).to.equal(512 - 'RPC failed; request ip return 500 '.length);
  });
});
