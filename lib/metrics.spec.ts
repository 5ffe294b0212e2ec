import { expect } from 'chai';
import { createRegistry, gauge, yes } from './metrics.ts';

describe('metrics', () => {
  it('are read at each scrape, and what is gone is not said any more', async () => {
    const registry = createRegistry();
    let full = ['a', 'b'];
    const read = () => Promise.resolve(full.map((subnet) => ({ labels: { subnet }, value: 1 })));
    gauge(registry, { name: 'full', help: 'Full subnets.', labels: ['subnet'], read });
    expect(await registry.getSingleMetricAsString('full')).to.contain('full{subnet="a"} 1\nfull{subnet="b"} 1');
    full = ['b'];
    expect(await registry.getSingleMetricAsString('full')).to.not.contain('"a"');
  });

  it('without labels are one number', async () => {
    const registry = createRegistry();
    gauge(registry, { name: 'writer', help: 'Whether it writes.', read: () => yes(true) });
    expect(await registry.getSingleMetricAsString('writer')).to.match(/\nwriter 1$/);
  });

  it('tell of the process, too', async () => {
    expect(await createRegistry().metrics()).to.match(/^process_cpu_seconds_total /m);
  });
});
