import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'chai';
import { allocated, released, unbound } from '../../domain/testing/event-fixtures.ts';
import type { Event } from '../../domain/events/event.ts';
import type { ReleaseCause } from '../../domain/values/allocation.ts';
import { definitionOf, eventTypes } from '../../domain/events/registry.ts';
import { type EventVersion, eventVersions } from '../../domain/events/schema-version.ts';
import { downcast } from './upcast.ts';

const releasedBecause = (cause: ReleaseCause): Event => {
  const event = released(allocated('a', '172.17.0.11'), 2);
  if (event.type !== 'AddressReleased') throw new Error(event.type);
  return { ...event, data: { ...event.data, cause } };
};

describe('The first version of a type', () => {
  it('The first version of a type is that of the first golden log with such an event', () => {
    for (const type of eventTypes) {
      const hasType = (version: EventVersion): boolean => {
        const file = join(import.meta.dirname, `../../../test/golden/events-v${version}.ndjson`);
        return readFileSync(file, 'utf8').includes(`"type":"${type}"`);
      };
      expect(definitionOf(type).since, type).to.equal(eventVersions.find(hasType));
    }
  });
});

describe('Events written as an earlier version', () => {
  it('Events written as an earlier version describe a detached attachment by the nearest cause of that version', () => {
    expect(downcast(3, releasedBecause('detached'))).to.include({ cause: 'operator' });
    expect(downcast(4, releasedBecause('detached'))).to.include({ cause: 'detached' });
    expect(downcast(3, releasedBecause('pod-deleted'))).to.include({ cause: 'pod-deleted' });
  });

  it('Events written as an earlier version describe an address on which another host answers by the nearest cause of that version', () => {
    const causes = ([9, 8, 4, 3] as const).map((version) => downcast(version, releasedBecause('address-conflict')));
    expect(causes.map((data) => ('cause' in data ? data.cause : ''))).to.deep.equal([
      'address-conflict',
      'detached',
      'detached',
      'operator',
    ]);
  });

  it('Events written as an earlier version have the cause "node deleted" if the version has no cause for a node out of service', () => {
    const event = unbound(allocated('a', '172.17.0.11'), 'container-1', { cause: 'node-out-of-service' });
    expect(downcast(5, event)).to.include({ cause: 'node-out-of-service' });
    for (const version of [2, 3, 4] as const) expect(downcast(version, event)).to.include({ cause: 'node-deleted' });
    expect(downcast(1, event)).to.not.have.property('cause');
  });

  it('Events written as an earlier version have no evidence of the end of a binding before version 6', () => {
    const evidence = 'its network namespace is deleted';
    const event = unbound(allocated('a', '172.17.0.11'), 'container-1', { cause: 'garbage-collected', evidence });
    expect(downcast(6, event)).to.include({ evidence });
    expect(downcast(5, event)).to.not.have.property('evidence');
  });
});
