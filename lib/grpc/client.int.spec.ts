import { connect } from './client.ts';
import { describeClient } from './testing/client.contract.ts';
import { describeRefusedRequests } from './testing/refused-requests.contract.ts';

describe('The client on grpc-js', () => {
  describeClient(connect);
  describeRefusedRequests(connect);
});
