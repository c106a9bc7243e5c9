import { expect, it } from 'vitest';
import { profileOf } from '../control/profiles.ts';
import { startRouters } from '../control/routers.ts';
import { inside } from '../engines/job-child.ts';
import { startJobIn } from '../engines/namespaces.ts';
import { execute } from '../engines/programs.ts';
import { useCable } from '../engines/use-cable.ts';

const cable = useCable('test');

it('thousands of frames that arrive while the agent does something else are all taken', async () => {
  const address = '10.99.0.10';
  const session = { localAddress: address, peerAddress: '10.99.0.2', passive: true };
  const job = await startRouters(cable.left, { bgp: [profileOf('bgp', { session })] });
  const ping = (count: number) =>
    cable.right.run('ping', '-q', '-n', '-W', '1', '-c', `${count}`, '-l', `${count}`, address);
  // The neighbour is known before the burst.
  expect(ping(1)).toContain(' 0% packet loss');
  job.signal('SIGSTOP');
  expect(() => ping(6000)).toThrow();
  job.signal('SIGCONT');
  expect(ping(1)).toContain(' 0% packet loss');
  const totals = await job.stop();
  expect(totals.counter('stack.dropped')).toBe(0);
  expect(totals.counter('stack.rxFrames')).toBeGreaterThan(6000);
});

/** Sends eight MiB of random bytes and reads them back. */
const echoClient = `
import os, socket, threading
body = os.urandom(8 << 20)
peer = socket.create_connection(('10.99.0.10', 7000), timeout=200)
sender = threading.Thread(target=peer.sendall, args=(body,))
sender.start()
answer = bytearray()
while len(answer) < len(body):
  part = peer.recv(1 << 16)
  if not part: break
  answer += part
sender.join()
print('equal' if answer == body else 'different')
`;

it('frames of many segments, as virtual interfaces deliver them, arrive whole on packet sockets', async () => {
  const { left, right } = cable;
  const server = await startJobIn(left, {
    engine: 'tcp',
    config: { role: 'server', mode: 'echo', listen: [{ host: '0.0.0.0', port: 7000 }] },
    duration: { mode: 'continuous' },
    stack: {
      interface: left.device,
      networks: [{ subnet: '10.99.0.0/24', hosts: ['10.99.0.10'] }],
      ...{ vlan: [], header: {}, tcp: {}, path: 'af_packet' },
    },
  });
  const [program = '', ...before] = inside(right);
  const { stdout } = await execute(program, [...before, 'python3', '-c', echoClient]);
  expect(stdout.trim()).toBe('equal');
  const totals = await server.stop();
  expect(totals.counter('stack.dropped')).toBe(0);
});
