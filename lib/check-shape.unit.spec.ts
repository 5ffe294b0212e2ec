import { expect } from 'chai';
import * as z from 'zod';
import { checkShape } from './check-shape.ts';

describe('The check of a shape', () => {
  const schema = z.object({ name: z.string().max(3), ports: z.array(z.number()).max(2) });

  it('The check of a shape returns what the schema makes of a value, or its issues', () => {
    expect(checkShape(schema, { name: 'web', ports: [1] }).data).to.deep.equal({ name: 'web', ports: [1] });
    expect(checkShape(schema, { name: 'web-0', ports: [] }).error?.issues[0]).to.include({ code: 'too_big' });
  });

  it('The check of a shape rejects an object whose length cannot be compared', () => {
    const length = JSON.parse('{"length": {"toString": 1}}') as unknown;
    for (const value of [
      { name: length, ports: [] },
      { name: 'web', ports: length },
    ]) {
      const { success, error } = checkShape(schema, value);
      expect(success).to.equal(false);
      expect(error?.issues.map(({ message }) => message)).to.deep.equal(['an object is in place of a text or a list']);
    }
  });
});
