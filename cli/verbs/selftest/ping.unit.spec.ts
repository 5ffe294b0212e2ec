import { expect } from 'chai';
import { judgePing } from './ping.ts';

const failed = (message: string) => ({ status: 'Failure', message });

describe('A ping from a Pod', () => {
  it('A ping from a Pod is answered, silent, or not possible, as the exit status of the command in the container shows', () => {
    expect(judgePing({ status: 'Success' }, '1 packets received')).to.deep.equal({ result: 'answers', detail: '' });
    const silent = failed('command terminated with non-zero exit code: error executing command [ping], exit code 1');
    expect(judgePing(silent, 'PING 10.0.0.2\n1 packets transmitted, 0 received\n')).to.deep.equal({
      result: 'silent',
      detail: '1 packets transmitted, 0 received',
    });
    const iputils = failed('command terminated with non-zero exit code: exit code 2');
    for (const output of ['ping: connect: Network is unreachable', 'ping: sendmsg: No route to host'])
      expect(judgePing(iputils, `${output}\n`)).to.deep.equal({ result: 'silent', detail: output });
    for (const message of ['exec: "ping": executable file not found in $PATH', 'exit code 127', 'exit code 126'])
      expect(judgePing(failed(message), '')).to.deep.equal({ result: 'not possible', detail: message });
  });
});
