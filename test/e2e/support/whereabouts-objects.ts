/**
 * Makes objects of whereabouts.cni.cncf.io/v1alpha1, and CustomResourceDefinitions with the fields
 * that whereabouts has.
 */

const group = 'whereabouts.cni.cncf.io';
const text = { type: 'string' };
const texts = (...names: readonly string[]) => ({
  type: 'object',
  required: ['podref'],
  properties: Object.fromEntries(names.map((name) => [name, text])),
});

const crd = (kind: string, plural: string, spec: object) => ({
  apiVersion: 'apiextensions.k8s.io/v1',
  kind: 'CustomResourceDefinition' as const,
  metadata: { name: `${plural}.${group}` },
  spec: {
    group,
    scope: 'Namespaced',
    names: { kind, plural, singular: kind.toLowerCase(), listKind: `${kind}List` },
    versions: [
      {
        name: 'v1alpha1',
        served: true,
        storage: true,
        schema: { openAPIV3Schema: { type: 'object', properties: { spec } } },
      },
    ],
  },
});

export const whereaboutsCrds = [
  crd('IPPool', 'ippools', {
    type: 'object',
    required: ['range', 'allocations'],
    properties: {
      range: text,
      allocations: { type: 'object', additionalProperties: texts('id', 'podref', 'ifname', 'ipamclaimref') },
    },
  }),
  crd(
    'OverlappingRangeIPReservation',
    'overlappingrangeipreservations',
    texts('containerid', 'podref', 'ifname', 'ipamclaimref'),
  ),
];

const whereabouts = (kind: string, name: string, spec: object) => ({
  apiVersion: `${group}/v1alpha1`,
  kind,
  metadata: { namespace: 'kube-system', name },
  spec,
});

/** @param pods names of Pods in namespace default, by offset */
export const whereaboutsPool = (name: string, range: string, pods: Readonly<Record<number, string>>) =>
  whereabouts('IPPool', name, {
    range,
    allocations: Object.fromEntries(
      Object.entries(pods).map(([offset, pod]) => [
        offset,
        { id: `sandbox-of-${pod}`, podref: `default/${pod}`, ifname: 'net1' },
      ]),
    ),
  });

export const whereaboutsReservation = (name: string, pod: string) =>
  whereabouts('OverlappingRangeIPReservation', name, { podref: `default/${pod}`, ifname: 'net1' });
