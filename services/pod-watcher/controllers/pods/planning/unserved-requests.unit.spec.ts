import { expect } from 'chai';
import { planOf } from './testing/plan.fixture.ts';
import { unservedEvent } from '../pod-event-messages.ts';

describe('the Event about unserved requests', () => {
  it('the Event about unserved requests is a Warning for a network with an empty configuration, with reason and remedy', () => {
    const { type, reason, message } = unservedEvent(planOf('empty,macvlan'));
    expect([type, reason]).to.deep.equal(['Warning', 'PodNetworkNotServed']);
    expect(message).to.match(
      /^default\/empty is not served: its spec\.config is empty, and Multus refuses the Pod .*\. Write a CNI configuration into spec\.config .*, or remove it from annotation k8s\.v1\.cni\.cncf\.io\/networks$/,
    );
    expect(planOf('empty,macvlan').attachments, 'the others are served').to.have.length(1);
  });

  it('the Event about unserved requests is Normal for a network of another IPAM plugin, and lists warnings first', () => {
    expect(unservedEvent(planOf('local')).type).to.equal('Normal');
    const { type, message } = unservedEvent(planOf('local,empty'));
    expect(type).to.equal('Warning');
    expect(message).to.match(/^default\/empty .*; default\/local is not served here: /);
  });
});
