import { describeClient } from '../testing/client.contract.ts';
import { describeRefusedRequests } from '../testing/refused-requests.contract.ts';
import { connect } from './connect.ts';

describe('The client on HTTP/2 alone', () => {
  describeClient(connect);
  describeRefusedRequests(connect);
});
