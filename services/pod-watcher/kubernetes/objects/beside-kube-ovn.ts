/** The kinds that Kube-OVN uses, too: beside Kube-OVN, the pod-watcher reads nothing of them that is meant for Kube-OVN. */
import { withoutKubeOvnAnnotations } from '../../../../lib/kubernetes/beside-kube-ovn.ts';
import { namespaces } from './namespace.ts';
import { networkDefinitions } from './network-definition.ts';
import { pods } from './pod.ts';

export const kindsInPlaceOfKubeOvn = { pods, namespaces, networkDefinitions };

export const kindsBesideKubeOvn: typeof kindsInPlaceOfKubeOvn = {
  pods: { ...pods, parse: (raw) => pods.parse(withoutKubeOvnAnnotations(raw)) },
  namespaces: { ...namespaces, parse: (raw) => namespaces.parse(withoutKubeOvnAnnotations(raw)) },
  networkDefinitions: {
    ...networkDefinitions,
    parse: (raw) => ({ ...networkDefinitions.parse(raw), besideKubeOvn: true }),
  },
};
