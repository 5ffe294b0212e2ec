/** gRPC reflection: describes the served API to generic clients. */
import { fileURLToPath } from 'node:url';
import type { Server } from '@grpc/grpc-js';
import { fromJSON, loadSync } from '@grpc/proto-loader';
import { ReflectionService } from '@grpc/reflection';

/**
 * The standard health service without its method List: protobufjs makes an invalid descriptor of a
 * map in it, and clients would reject the whole service.
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

/** Adds reflection of ipledger's API and of the health service to a server. */
export function addReflection(server: Server): void {
  const api = loadSync(fileURLToPath(new URL('../../../proto/ipledger.proto', import.meta.url)), { keepCase: true });
  const json = { nested: { grpc: { nested: { health: { nested: { v1: { nested: health } } } } } } };
  new ReflectionService({ ...api, ...fromJSON(json, { keepCase: true }) }).addToServer(server);
}
