import { expect } from 'chai';
import { createRegistry, addGauge } from './metrics.ts';

describe('Metrics', () => {
  it('metrics are read at each scrape, and labels without a reading are removed', async () => {
    const registry = createRegistry('test');
    let full = ['a', 'b'];
    const read = () => Promise.resolve(full.map((subnet) => ({ labels: { subnet }, value: 1 })));
    addGauge(registry, { name: 'full', help: 'Full subnets.', labels: ['subnet'], read });
    expect(await registry.getSingleMetricAsString('full')).to.contain('full{subnet="a"} 1\nfull{subnet="b"} 1');
    full = ['b'];
    expect(await registry.getSingleMetricAsString('full')).to.not.contain('"a"');
  });

  it('metrics without labels have one value', async () => {
    const registry = createRegistry('test');
    addGauge(registry, { name: 'writer', help: 'Whether it writes.', read: () => true });
    expect(await registry.getSingleMetricAsString('writer')).to.match(/\nwriter 1$/);
  });

  it('metrics without labels have no value when there is no reading', async () => {
    const registry = createRegistry('test');
    addGauge(registry, { name: 'seq', help: 'What a standby does not know.', read: () => undefined });
    expect(await registry.getSingleMetricAsString('seq')).to.not.match(/^seq /m);
  });

  it('metrics with one label have a value for each of its values', async () => {
    const registry = createRegistry('test');
    const read = () => ({ used: 2, free: 3 });
    addGauge(registry, { name: 'bytes', help: 'Bytes.', labels: ['kind'], read });
    expect(await registry.getSingleMetricAsString('bytes')).to.contain('bytes{kind="used"} 2\nbytes{kind="free"} 3');
  });

  it('metrics include those of the Node process', async () => {
    expect(await createRegistry('test').metrics()).to.match(/^process_cpu_seconds_total /m);
  });
});
