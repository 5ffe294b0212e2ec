/**
 * The CustomResourceDefinitions for the mode beside Kube-OVN: Kube-OVN's kinds in ipledger's own
 * group, and the kinds of others.
 */
import { readFileSync } from 'node:fs';
import { basename } from 'node:path';
import { ownGroup } from '../../../lib/kubernetes/beside-kube-ovn.ts';
import { crdFiles } from './kubectl.ts';

const ownKinds = ['subnet.yaml', 'ippool.yaml', 'vip.yaml', 'ip.yaml'];
const kindsOfOthers = ['ipam-claim.yaml'];

/** Names and texts of the files. */
export function ownDefinitions(): [name: string, text: string][] {
  return crdFiles().flatMap((file): [string, string][] => {
    const [name, text] = [basename(file), readFileSync(file, 'utf8')];
    if (kindsOfOthers.includes(name)) return [[name, text]];
    return ownKinds.includes(name) ? [[name, inOwnGroup(text)]] : [];
  });
}

/** Moves a definition to ipledger's group, without short names, which are Kube-OVN's. */
const inOwnGroup = (text: string): string =>
  text
    .replace(/^  name: (\w+)\.kubeovn\.io$/m, `  name: $1.${ownGroup}`)
    .replace(/^  group: kubeovn\.io$/m, `  group: ${ownGroup}`)
    .replace(/^    shortNames: .*\n/m, '');
