/** Checks each release that is committed: no Pod that lives, and no static Pod that runs, loses its address. */
import type { StoredEvent } from '../../../ledger/log/chain/chain.ts';
import type { SimulatedCluster } from './cluster.ts';
import { identityOf, isLiving } from './pod-identity.ts';

export function checkRelease({ world, user, nodes, nics }: SimulatedCluster, { sequenced }: StoredEvent): void {
  if (sequenced.type !== 'AddressReleased') return;
  const { attachment, uid, addresses, cause } = sequenced.data;
  const released = `${addresses.join(',')} of Pod ${attachment.pod} (${uid}) is released (${cause})`;
  const living = user.pods().find((pod) => {
    const identity = identityOf(pod);
    return identity.name === attachment.pod && identity.uid === uid && !identity.isStatic && isLiving(pod);
  });
  if (living) world.fail('living Pods keep their addresses', `${released}, which lives`);
  const isPlaced = nodes.some(({ manifests }) => [...manifests.values()].some(({ hash }) => hash === uid));
  const nic = nics.all.find((each) => each.uid === uid);
  if (isPlaced && nic)
    world.fail('static Pods keep their addresses', `${released}, whose container ${nic.containerId} runs`);
}
