import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect } from 'chai';
import { pino } from 'pino';
import { neverAborted, rejectionOf } from '../testing/fakes.ts';
import { createAddressProbe, type ProbeTarget } from './address-probe.ts';

describe('The probe of an address', () => {
  let folder: string;
  let target: ProbeTarget;
  const logged: string[] = [];
  const log = pino({ level: 'warn' }, { write: (line: string) => void logged.push(line) });

  beforeEach(() => {
    logged.length = 0;
    folder = mkdtempSync(join(tmpdir(), 'ipledger-probe-'));
    const netns = join(folder, 'netns');
    writeFileSync(netns, '');
    target = { netns, interface: 'net1', cniType: 'macvlan', addresses: ['10.0.0.2', 'fd00::2'] };
  });
  afterEach(() => rmSync(folder, { recursive: true }));

  /** A probe by a program that does this, instead of the plugin. */
  function probeBy(script: string) {
    const program = join(folder, 'program');
    writeFileSync(program, `#!/bin/sh\n${script}\n`, { mode: 0o700 });
    return createAddressProbe(program, log);
  }

  it('The probe of an address names namespace, interface and addresses, and returns the host that answers', async () => {
    const probe = probeBy(
      `echo "$*" >${folder}/args; echo '{"conflict":{"address":"fd00::2","mac":"52:54:00:12:34:56"}}'`,
    );
    const conflict = { address: 'fd00::2', mac: '52:54:00:12:34:56' };
    expect(await probe(target, neverAborted())).to.deep.equal(conflict);
    expect(readFileSync(join(folder, 'args'), 'utf8')).to.equal(`probe ${target.netns} net1 10.0.0.2 fd00::2\n`);
    expect(await probeBy('echo {}')(target, neverAborted())).to.equal(undefined);
    expect(logged).to.deep.equal([]);
  });

  it('The probe of an address logs once for each type of link why it has no probe', async () => {
    const probe = probeBy(`echo '{"not_probed":"there is no such link yet"}'`);
    for (const cniType of ['ptp', 'ptp', 'ipvlan', 'ipvlan', 'other'])
      expect(await probe({ ...target, cniType }, neverAborted())).to.equal(undefined);
    expect(logged.map((line) => (JSON.parse(line) as { cniType: string }).cniType)).to.deep.equal([
      'ptp',
      'ipvlan',
      'other',
    ]);
  });

  it('The probe of an address does not run for ipvlan, whose link has the MAC of its master', async () => {
    const probe = probeBy('exit 1');
    expect(await probe({ ...target, cniType: 'ipvlan' }, neverAborted())).to.equal(undefined);
  });

  it('The probe of an address fails with the reason if the program fails, is missing or is stopped, and in the namespace of the node', async () => {
    const failed = await rejectionOf(probeBy('echo "no NET_RAW" >&2; exit 1')(target, neverAborted()));
    expect(failed).to.include({
      code: 'SANDBOX_FAILED',
      message: 'the probe of 10.0.0.2 and fd00::2 on net1 failed, and the Subnet has probeAddresses: no NET_RAW',
    });
    const missing = createAddressProbe(join(folder, 'none'), log);
    expect((await rejectionOf(missing(target, neverAborted()))).message).to.contain('ENOENT');
    const caller = new AbortController();
    const stopped = rejectionOf(probeBy('exec sleep 60')(target, caller.signal));
    caller.abort();
    expect((await stopped).code).to.be.oneOf(['SANDBOX_FAILED', 'CANCELLED']);
    const own = rejectionOf(probeBy('echo {}')({ ...target, netns: '/proc/self/ns/net' }, neverAborted()));
    expect((await own).message).to.contain("is the node's own");
    const broken = rejectionOf(probeBy('echo done')(target, neverAborted()));
    expect((await broken).message).to.contain('the probe of 10.0.0.2 and fd00::2 on net1 failed');
  });
});
