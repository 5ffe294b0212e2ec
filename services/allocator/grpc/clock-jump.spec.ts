import { expect } from 'chai';
import { IpamService } from '../../../proto/ipledger.ts';
import { allocate, applySubnet, bind, podAsks, release, type Served, serveAllocator } from './specification.ts';

const hour = 3_600_000;
const ofTiny = { subnets: ['tiny'], provider: 'macvlan.default' };

describe('A clock that jumps an hour ahead', () => {
  let served: Served;
  beforeEach(async () => {
    served = await serveAllocator();
    // One address, .2.
    await applySubnet(served, 'tiny', { cidrBlock: '10.0.0.0/30', provider: 'macvlan.default' });
  });
  afterEach(() => served[Symbol.asyncDispose]());

  it('ends no binding timeout: the address of a container that may answer stays kept back', async () => {
    await allocate(served, 'a', ofTiny);
    await bind(served, 'a');
    await release(served, 'a');
    served.jump(hour);
    expect(await served.refusal(IpamService.allocate, podAsks('b', ofTiny))).to.include({ code: 'SUBNET_FULL' });
    served.pass(hour);
    expect((await allocate(served, 'b', ofTiny)).addresses[0]?.address).to.equal('10.0.0.2');
  });

  it('ends no cooldown', async () => {
    await allocate(served, 'a', ofTiny);
    await release(served, 'a');
    served.jump(hour);
    expect(await served.refusal(IpamService.allocate, podAsks('b', ofTiny))).to.include({ code: 'SUBNET_FULL' });
    served.pass(60_000);
    expect((await allocate(served, 'b', ofTiny)).addresses[0]?.address).to.equal('10.0.0.2');
  });
});
