/** Minimal CustomResourceDefinitions of KubeVirt, which accept any spec. */

const kinds = { VirtualMachine: 'virtualmachines', VirtualMachineInstance: 'virtualmachineinstances' } as const;

const schema = { openAPIV3Schema: { type: 'object', 'x-kubernetes-preserve-unknown-fields': true } };

/** A CustomResourceDefinition for each kind. */
export const virtualMachineCrds = Object.entries(kinds).map(([kind, plural]) => ({
  apiVersion: 'apiextensions.k8s.io/v1',
  kind: 'CustomResourceDefinition' as const,
  metadata: { name: `${plural}.kubevirt.io` },
  spec: {
    group: 'kubevirt.io',
    scope: 'Namespaced',
    names: { plural, kind, singular: kind.toLowerCase(), listKind: `${kind}List` },
    versions: [{ name: 'v1', served: true, storage: true, schema }],
  },
}));
