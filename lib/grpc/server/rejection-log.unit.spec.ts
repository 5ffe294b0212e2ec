import { expect } from 'chai';
import { pino } from 'pino';
import { createRejectionLogger } from './call-status.ts';

describe('The log of rejected calls', () => {
  it('The log of rejected calls has a line for each of 20 rejections in a minute, with method, client and reason', () => {
    const lines: string[] = [];
    const log = createRejectionLogger(pino({}, { write: (line: string) => void lines.push(line) }));
    for (let count = 0; count < 100; count++) log({ path: '/a/B', peer: '10.0.0.1:5', reason: `number ${count}` });
    expect(lines).to.have.length(20);
    expect(JSON.parse(lines[0] ?? '')).to.include({ path: '/a/B', peer: '10.0.0.1:5', reason: 'number 0' });
  });
});
