/**
 * Generates claims of any shape, for property tests. The values are few, so that claims share
 * texts, Pods and containers.
 */
import fc from 'fast-check';
import type { Attachment } from '../values/allocation.ts';
import type { Allocation, Binding, Claim } from '../state/claim.ts';

const uuid = '6f1c2f4e-0a1b-4c2d-8e3f-0123456789ab';
const containerId = '0123456789abcdef'.repeat(4);

/** Texts for each form of storage, and texts that almost have such a form. */
const anyText = fc.oneof(
  fc.constantFrom('', 'a', 'web-1', uuid, uuid.toUpperCase(), uuid.replaceAll('-', '_'), '02:00:00:00:00:0a'),
  fc.constantFrom(
    '02-00-00-00-00-0a',
    containerId,
    `${containerId}0`,
    containerId.replace('0', 'g'),
    'é',
    '€ 1',
    '\ud800',
  ),
  fc.string({ unit: 'binary', maxLength: 40 }),
);
const anyNumber = fc.oneof(fc.nat(300), fc.integer({ min: 1, max: Number.MAX_SAFE_INTEGER }));
const anyAddress = fc.constantFrom(
  '10.0.0.1',
  '10.0.0.2',
  '255.255.255.255',
  '010.0.0.1',
  '10.0.0',
  'fd00::1',
  'fd00::2',
  '',
);

const anyMac = fc.constantFrom('', '02:00:00:00:00:01', '02:00:00:00:00:02');

const anyAttachment: fc.Arbitrary<Attachment> = fc.record({
  namespace: fc.constantFrom('default', 'team'),
  pod: fc.oneof(fc.constantFrom('web-1', 'web-2'), anyText),
  provider: fc.constantFrom('small.default', 'ovn'),
  ordinal: fc.nat(2),
});

export const anyAllocation: fc.Arbitrary<Allocation> = fc
  .record(
    {
      attachment: anyAttachment,
      uid: anyText,
      owner: fc.record({
        kind: fc.constantFrom('ReplicaSet', 'Job'),
        name: fc.constantFrom('', 'web', 'db'),
        uid: anyText,
      }),
      node: anyText,
      addresses: fc.array(fc.record({ address: anyAddress, cidr: anyText, gateway: anyText }), { maxLength: 2 }),
      mac: anyMac,
      interface: anyText,
      cause: fc.constantFrom('dynamic', 'static'),
      routes: fc.array(fc.record({ dst: anyText, gw: anyText }), { maxLength: 2 }),
      defaultRoute: fc.boolean(),
    },
    { requiredKeys: ['attachment', 'uid', 'node', 'addresses', 'mac', 'interface', 'cause', 'routes'] },
  )
  .chain((grant) =>
    fc
      .record({ seq: fc.integer({ min: 1 }), at: anyNumber, subnet: fc.constantFrom('small', 'wide') })
      .map((rest) => ({ ...rest, ...grant })),
  );

const bindingOf = (attachment: fc.Arbitrary<Attachment>): fc.Arbitrary<Binding> =>
  fc.record(
    {
      alloc: anyNumber,
      attachment,
      containerId: fc.oneof(fc.constantFrom('c1', 'c2', containerId), anyText),
      interface: fc.constantFrom('net1', 'eth0'),
      node: anyText,
      bootId: anyText,
      at: anyNumber,
      mac: anyMac,
    },
    { requiredKeys: ['alloc', 'attachment', 'containerId', 'interface', 'node', 'bootId', 'at'] },
  );

/** A claim. Many of its bindings belong to the holder. */
export const anyClaim: fc.Arbitrary<Claim> = fc.option(anyAllocation, { nil: undefined }).chain((allocation) =>
  fc
    .record(
      {
        last: anyNumber,
        lastAt: anyNumber,
        networks: fc.uniqueArray(fc.constantFrom('small.default', 'switch/small', 'wide'), { maxLength: 2 }),
        bindings: fc.array(
          bindingOf(allocation ? fc.oneof(fc.constant(allocation.attachment), anyAttachment) : anyAttachment),
          {
            maxLength: 3,
          },
        ),
        released: fc.record(
          {
            seq: anyNumber,
            at: anyNumber,
            uid: anyText,
            pod: fc.constantFrom('default/web-1', 'default/web-2'),
            mac: anyMac,
          },
          { requiredKeys: ['seq', 'at', 'uid'] },
        ),
        reservation: fc.record({ reservedFor: anyText, reason: anyText, mac: anyText, seq: anyNumber, at: anyNumber }),
        quarantine: fc.record({ seenMac: anyText, seenAt: anyText, reason: anyText, seq: anyNumber, at: anyNumber }),
      },
      { requiredKeys: ['last', 'lastAt', 'networks', 'bindings'] },
    )
    .map((claim) => (allocation ? { ...claim, allocation } : claim)),
);
