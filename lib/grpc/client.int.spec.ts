import { connect } from './client.ts';
import { describeClient } from './testing/client.contract.ts';

describe('The client on grpc-js', () => describeClient(connect));
