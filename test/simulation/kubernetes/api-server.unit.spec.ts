import type { Api } from '../../../lib/kubernetes/client/kubernetes-api.ts';
import { Network } from '../kernel/network.ts';
import type { Program } from '../kernel/program.ts';
import { installVirtualTime } from '../kernel/virtual-time.ts';
import { World } from '../kernel/world.ts';
import { ApiServer } from './api-server.ts';
import { simulatedApi } from './simulated-api.ts';
import { SimulatedApiServer } from './simulated-api-server.ts';
import { apiServerContract } from './testing/api-server.contract.ts';

describe('The model of the API server', () => {
  let removeVirtualTime = (): void => undefined;
  before(() => (removeVirtualTime = installVirtualTime()));
  after(() => removeVirtualTime());

  apiServerContract(() => {
    const world = new World(1);
    let uids = 0;
    const model = new ApiServer({ now: () => server.machine.wall(), newUid: () => `uid-${++uids}` });
    const server = new SimulatedApiServer(world, new Network(world), model);
    const client = world.machine('client').start('client', () => undefined);
    return Promise.resolve(steppedApi(world, client, simulatedApi(client, server)));
  });
});

/** A client whose calls run the world until they are answered. */
function steppedApi(world: World, program: Program, api: Api): Api {
  const untilSettled = async <T>(start: () => Promise<T>): Promise<T> => {
    let isSettled = false;
    const settled = program.run(start).finally(() => (isSettled = true));
    settled.catch(() => undefined);
    await world.runUntil(() => isSettled, 60_000);
    return settled;
  };
  return {
    ...api,
    request: (request) => untilSettled(() => api.request(request)),
    async *stream(path, options) {
      const lines = api.stream(path, options);
      try {
        for (;;) {
          const next = await untilSettled(() => lines.next());
          if (next.done === true) return;
          yield next.value;
        }
      } finally {
        await untilSettled(() => lines.return(undefined));
      }
    },
  };
}
