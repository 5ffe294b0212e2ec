import { expect } from 'chai';
import { pino } from 'pino';
import { IpledgerError } from '../../../../lib/errors.ts';
import { ApiError } from '../../../../lib/kubernetes/client/api-error.ts';
import type { SubnetObject } from '../../kubernetes/objects/subnet.ts';
import { FakeInformer, subnetNamed, until } from '../../testing/fakes.ts';
import { subnetReasons } from './conditions.ts';
import { ObjectController } from './object-controller.ts';

describe('ObjectController', () => {
  let stop: AbortController;
  beforeEach(() => (stop = new AbortController()));
  afterEach(() => stop.abort());

  /** Makes a controller that accepts each object and writes nothing, except for `parts`. */
  const controllerOf = (
    objects: FakeInformer<SubnetObject>,
    parts: Partial<ConstructorParameters<typeof ObjectController<SubnetObject>>[0]>,
  ): ObjectController<SubnetObject> =>
    new ObjectController<SubnetObject>({
      objects,
      apply: () => Promise.resolve({}),
      isApplied: () => true,
      differences: () => ({}),
      retire: () => Promise.resolve(),
      appliedNames: () => [],
      onVerdict: () => undefined,
      reasons: subnetReasons,
      write: () => Promise.resolve(),
      writeStatus: () => Promise.resolve(),
      recordEvent: () => undefined,
      log: pino({ level: 'silent' }),
      signal: stop.signal,
      ...parts,
    });

  /** Starts a controller whose writes fail, and returns the lines of the log when it has tried. */
  async function logOfFailedWrite(error: ApiError): Promise<string[]> {
    const lines: string[] = [];
    const objects = new FakeInformer<SubnetObject>();
    let writes = 0;
    const controller = controllerOf(objects, {
      write: () => {
        writes += 1;
        return Promise.reject(error);
      },
      log: pino({ level: 'info', base: null }, { write: (line) => void lines.push(line) }),
    });
    objects.put(subnetNamed('lan'));
    await controller.start();
    await until(() => writes > 0);
    return lines;
  }

  it('ObjectController does not show the verdict about a deleted object on a new object of its name', async () => {
    const objects = new FakeInformer<SubnetObject>();
    const shown: unknown[] = [];
    const controller = controllerOf(objects, {
      apply: ({ uid }) => {
        if (uid === 'new') return Promise.resolve({});
        objects.put(subnetNamed('lan', {}, { uid: 'new' }));
        return Promise.reject(new IpledgerError('SUBNET_INVALID', 'the old spec'));
      },
      writeStatus: (_object, { conditions }) => Promise.resolve(void shown.push(conditions)),
    });
    objects.put(subnetNamed('lan', {}, { uid: 'old' }));
    await controller.start();
    await until(() => shown.length > 0);
    expect(JSON.stringify(shown)).to.not.contain('the old spec');
  });

  it('ObjectController retires a deleted object again if the allocator does not answer, and reports no user of it', async () => {
    const objects = new FakeInformer<SubnetObject>();
    const [events, conditions, writes] = [new Array<string>(), new Array<object>(), new Array<object>()];
    let tries = 0;
    const controller = controllerOf(objects, {
      retire: () => {
        tries += 1;
        return tries === 1 ? Promise.reject(new IpledgerError('UNAVAILABLE', 'connection lost')) : Promise.resolve();
      },
      write: (_object, body) => Promise.resolve(void writes.push(body)),
      writeStatus: (_object, body) => Promise.resolve(void conditions.push(body)),
      recordEvent: (_object, { message }) => void events.push(message),
    });
    const deletionTimestamp = '2026-11-17T14:05:00Z';
    objects.put(subnetNamed('lan', {}, { deletionTimestamp, finalizers: ['ipledger.io/ledger'] }));
    await controller.start();
    expect(writes, 'the finalizer stays').to.deep.equal([]);
    await until(() => writes.length > 0);
    expect([tries, events, conditions]).to.deep.equal([2, [], []]);
  });

  it('ObjectController applies at most four objects at the same time', async () => {
    const objects = new FakeInformer<SubnetObject>();
    const answers: (() => void)[] = [];
    const controller = controllerOf(objects, {
      apply: () => new Promise((resolve) => answers.push(() => resolve({}))),
    });
    for (let index = 0; index < 7; index++) objects.put(subnetNamed(`s${index}`));
    const started = controller.start();
    await until(() => answers.length === 4);
    await new Promise((resolve) => setImmediate(resolve));
    expect(answers).to.have.length(4);
    for (const answer of answers.splice(0)) answer();
    await until(() => answers.length === 3);
    for (const answer of answers) answer();
    await started;
  });

  it('ObjectController logs a write that the API server denies, and none to an object that has changed or is gone', async () => {
    expect(await logOfFailedWrite(new ApiError(409, 'the object has been modified'))).to.deep.equal([]);
    expect(await logOfFailedWrite(new ApiError(404, 'not found'))).to.deep.equal([]);
    const [line, ...more] = await logOfFailedWrite(new ApiError(403, 'forbidden'));
    expect(more).to.deep.equal([]);
    expect(line).to.contain('forbidden').and.contain('lan');
  });
});
