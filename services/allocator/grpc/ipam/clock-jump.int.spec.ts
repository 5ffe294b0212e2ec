import { expect } from 'chai';
import { IpamService } from '../../../../proto/generated/ipledger.ts';
import {
  allocate,
  applySubnet,
  bind,
  allocateRequest,
  release,
  type ServedAllocator,
  serveAllocator,
} from '../testing/served-allocator.ts';

const hour = 3_600_000;
const ofTiny = { subnets: ['tiny'], provider: 'macvlan.default' };

describe('A machine clock that jumps forward by an hour', () => {
  let served: ServedAllocator;
  beforeEach(async () => {
    served = await serveAllocator();
    // One address, .2.
    const times = { bindingTimeoutMs: hour };
    await applySubnet(served, 'tiny', { cidrBlock: '10.0.0.0/30', provider: 'macvlan.default', ...times });
  });
  afterEach(() => served[Symbol.asyncDispose]());

  it('A machine clock that jumps forward by an hour does not end a binding timeout: an address with an open binding stays held', async () => {
    await allocate(served, 'a', ofTiny);
    await bind(served, 'a');
    await release(served, 'a');
    served.jumpClock(hour);
    expect(await served.refusal(IpamService.allocate, allocateRequest('b', ofTiny))).to.include({
      code: 'SUBNET_FULL',
    });
    served.advanceTime(hour);
    expect((await allocate(served, 'b', ofTiny)).addresses[0]?.address).to.equal('10.0.0.2');
  });

  it('A machine clock that jumps forward by an hour does not end a cooldown', async () => {
    await allocate(served, 'a', ofTiny);
    await release(served, 'a');
    served.jumpClock(hour);
    expect(await served.refusal(IpamService.allocate, allocateRequest('b', ofTiny))).to.include({
      code: 'SUBNET_FULL',
    });
    served.advanceTime(60_000);
    expect((await allocate(served, 'b', ofTiny)).addresses[0]?.address).to.equal('10.0.0.2');
  });
});
