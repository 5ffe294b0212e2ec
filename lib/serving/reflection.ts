/** Reflection: what a client that knows nothing of us is told of what we serve. */
import { fileURLToPath } from 'node:url';
import type { Server } from '@grpc/grpc-js';
import { fromJSON, loadSync } from '@grpc/proto-loader';
import { ReflectionService } from '@grpc/reflection';

/**
 * The standard health service as far as it concerns one server. grpc-health-check's own file has a method List besides, with
 * a map; that comes out of protobufjs as a descriptor which other clients refuse, and with it the whole service.
 */
const health = {
  HealthCheckRequest: { fields: { service: { type: 'string', id: 1 } } },
  HealthCheckResponse: {
    fields: { status: { type: 'ServingStatus', id: 1 } },
    nested: { ServingStatus: { values: { UNKNOWN: 0, SERVING: 1, NOT_SERVING: 2, SERVICE_UNKNOWN: 3 } } },
  },
  Health: {
    methods: {
      Check: { requestType: 'HealthCheckRequest', responseType: 'HealthCheckResponse', comment: '' },
      Watch: {
        requestType: 'HealthCheckRequest',
        responseType: 'HealthCheckResponse',
        responseStream: true,
        comment: '',
      },
    },
  },
};

/** Adds it to a server: our API, and health. */
export function addReflection(server: Server): void {
  const ours = loadSync(fileURLToPath(new URL('../../proto/ipledger.proto', import.meta.url)), { keepCase: true });
  const json = { nested: { grpc: { nested: { health: { nested: { v1: { nested: health } } } } } } };
  new ReflectionService({ ...ours, ...fromJSON(json, { keepCase: true }) }).addToServer(server);
}
